//! What a key opens, and what it does not.

use super::*;
use crate::accounts::{AccountProfile, NewAccount, Role};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn account() -> Account {
    let new = NewAccount {
        user_id: UserId::parse("ada").unwrap(),
        profile: AccountProfile::new("Ada", None).unwrap(),
        roles: [Role::Member, Role::JobViewer].into_iter().collect(),
        tenant: Tenant::default(),
    };
    Account::create(new, at(100))
}

fn principal_of(account: &Account) -> Principal {
    Principal {
        user_id: account.user_id.clone(),
        name: "x".to_owned(),
        roles: account.roles,
        tenant: Tenant::default(),
        key_id: None,
        key_expires_at: None,
    }
}

fn admin() -> Principal {
    Principal { roles: [Role::Admin].into_iter().collect(), ..principal_of(&account()) }
}

fn key(new: &NewKey) -> (ApiKey, PresentedKey) {
    let (api_key, text) = PresentedKey::made_from([7; 12], [9; 32]);
    let presented = PresentedKey::parse(&text).unwrap();
    (ApiKey::create(&account(), &api_key, new, &admin(), at(200)).unwrap(), presented)
}

#[test]
fn a_fresh_key_speaks_for_its_account() {
    let (key, presented) = key(&NewKey::default());
    let KeyVerdict::Valid(who) = verify(&presented, Some((&key, &account())), at(201)) else {
        panic!("denied");
    };
    assert_eq!((who.user_id.as_str(), who.roles), ("ada", account().roles));
}

#[test]
fn every_way_a_key_can_be_dead_is_denied() {
    let (good, presented) = key(&NewKey { expires_at: Some(at(300)), ..NewKey::default() });
    let disabled = Account { state: AccountState::Disabled, ..account() };
    let outdated = Account { key_epoch: 1, ..account() };
    let stranger = Account { user_id: UserId::parse("bob").unwrap(), ..account() };
    let revoked = ApiKey { revoked_at: Some(at(250)), ..good.clone() };
    let wrong = PresentedKey { hash: SecretHash::of("other"), ..presented.clone() };
    let cases = [
        (&presented, None, 201),
        (&wrong, Some((&good, &account())), 201),
        (&presented, Some((&revoked, &account())), 260),
        (&presented, Some((&good, &account())), 300),
        (&presented, Some((&good, &disabled)), 201),
        (&presented, Some((&good, &outdated)), 201),
        (&presented, Some((&good, &stranger)), 201),
    ];
    for (index, (presented, stored, now)) in cases.into_iter().enumerate() {
        assert_eq!(verify(presented, stored, at(now)), KeyVerdict::Denied, "case {index}");
    }
    assert_ne!(verify(&presented, Some((&good, &account())), at(299)), KeyVerdict::Denied);
}

#[test]
fn a_key_never_outgrows_its_account() {
    let member = Some([Role::Member].into_iter().collect());
    let (narrow, presented) = key(&NewKey { roles: member, ..NewKey::default() });
    let demoted = Account { roles: Roles::NONE, ..account() };
    let roles = |account: &Account| match verify(&presented, Some((&narrow, account)), at(201)) {
        KeyVerdict::Valid(who) => who.roles,
        KeyVerdict::Denied => panic!("denied"),
    };
    assert_eq!(Some(roles(&account())), member);
    assert_eq!(roles(&demoted), Roles::NONE);
    let beyond = NewKey { roles: Some([Role::Admin].into_iter().collect()), ..NewKey::default() };
    let (api_key, _) = PresentedKey::made_from([1; 12], [2; 32]);
    assert!(ApiKey::create(&account(), &api_key, &beyond, &admin(), at(1)).is_err());
}

#[test]
fn a_key_hands_on_no_more_than_it_has() {
    let (api_key, _) = PresentedKey::made_from([1; 12], [2; 32]);
    let narrow: Roles = [Role::JobViewer].into_iter().collect();
    let maker =
        Principal { roles: narrow, key_expires_at: Some(at(500)), ..principal_of(&account()) };
    let make = |new: NewKey| ApiKey::create(&account(), &api_key, &new, &maker, at(300));
    let heir = make(NewKey::default()).unwrap();
    assert_eq!((heir.roles, heir.expires_at), (Some(narrow), Some(at(500))));
    let sooner = NewKey { expires_at: Some(at(400)), ..NewKey::default() };
    assert_eq!(make(sooner).unwrap().expires_at, Some(at(400)));
    let later = NewKey { expires_at: Some(at(501)), ..NewKey::default() };
    assert!(make(later).is_err());
    let wider = NewKey { roles: Some(account().roles), ..NewKey::default() };
    assert!(make(wider).is_err());
}

#[test]
fn malformed_keys_are_told_apart_before_any_look_up() {
    for bad in ["", "abc", ".abc", "abc.", "a b.c", "abc.d-e", "abc.d.e", "ä.b"] {
        assert!(PresentedKey::parse(bad).is_none(), "{bad}");
    }
    assert!(PresentedKey::parse(&format!("{}.x", "a".repeat(33))).is_none());
    assert!(PresentedKey::parse(&format!("a.{}", "x".repeat(129))).is_none());
}

#[test]
fn hex_reads_back() {
    let hash = SecretHash::of("s");
    assert!(SecretHash::from_hex(&hash.to_hex()).unwrap().matches(&hash));
    assert!(SecretHash::from_hex("zz").is_none());
    assert!(SecretHash::from_hex(&"ü".repeat(32)).is_none());
}
