//! What may be done to an account.

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn ada() -> Account {
    let new = NewAccount {
        user_id: UserId::parse("ada").unwrap(),
        profile: AccountProfile::new("Ada", Some("ada@example.org")).unwrap(),
        roles: [Role::Member].into_iter().collect(),
        tenant: Tenant::default(),
    };
    Account::create(new, at(100))
}

#[test]
fn user_ids_are_plain_and_never_root() {
    for good in ["a", "ada", "9to5", "ada.lovelace_1-x", &"x".repeat(64)] {
        assert!(UserId::parse(good).is_ok(), "{good}");
    }
    for bad in ["", "Ada", "-ada", ".", "a b", "ä", "root", "a#b", &"x".repeat(65)] {
        assert!(UserId::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn addresses_are_plausible_or_refused() {
    for good in ["a@b.co", "ada+x@mail.example.org", "ü@exämple.org"] {
        assert!(AccountProfile::new("n", Some(good)).is_ok(), "{good}");
    }
    for bad in ["", "ada", "@b.co", "a@b", "a@.b", "a@b.", "a b@c.d", "a@b@c.d", "a@b.c\r\nX: y"] {
        assert!(AccountProfile::new("n", Some(bad)).is_err(), "{bad:?}");
    }
}

#[test]
fn disabling_ends_every_key_made_so_far_and_enabling_revives_none() {
    let disable = Amendment { state: Some(AccountState::Disabled), ..Amendment::default() };
    let off = ada().amend(&disable, true, at(200)).unwrap();
    assert_eq!((off.state, off.key_epoch, off.version), (AccountState::Disabled, 1, 2));
    let enable = Amendment { state: Some(AccountState::Active), ..Amendment::default() };
    let on = off.amend(&enable, true, at(300)).unwrap();
    assert_eq!((on.state, on.key_epoch, on.version), (AccountState::Active, 1, 3));
}

#[test]
fn a_user_changes_their_own_name_and_nothing_else() {
    let name = Amendment { name: Some(" Ada L. ".into()), ..Amendment::default() };
    assert_eq!(ada().amend(&name, false, at(1)).unwrap().profile.name, "Ada L.");
    let beyond = [
        Amendment { roles: Some(Roles::NONE), ..Amendment::default() },
        Amendment { tenant: Some(Tenant::default()), ..Amendment::default() },
        Amendment { state: Some(AccountState::Disabled), ..Amendment::default() },
        Amendment { email: Some(NewValue::Forget), ..Amendment::default() },
    ];
    for amendment in beyond {
        assert!(matches!(ada().amend(&amendment, false, at(1)), Err(Rejected::NeedsAdmin(_))));
        assert!(ada().amend(&amendment, true, at(1)).is_ok());
    }
}
