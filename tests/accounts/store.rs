//! Accounts and keys.

use domain::Timestamp;
use domain::accounts::{
    Account, AccountChange, AccountProfile, AccountState, Amendment, ApiKey, AuditEntry,
    NewAccount, NewKey, PresentedKey, Principal, Role, Tenant, UserId,
};
use local::faults::Fault;
use store::Accounts;
use store::accounts::{AccountAmendment, AccountCreation, KeyCreation, KeyRevocation};
use tests::Lab;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn account(user_id: &str, roles: &[Role]) -> Account {
    let new = NewAccount {
        user_id: UserId::parse(user_id).unwrap(),
        profile: AccountProfile::new(user_id, None).unwrap(),
        roles: roles.iter().copied().collect(),
        tenant: Tenant::default(),
    };
    Account::create(new, at(100))
}

fn root() -> Principal {
    Principal {
        user_id: UserId::outside("root"),
        name: "Root".to_owned(),
        roles: [Role::Admin].into_iter().collect(),
        tenant: Tenant::default(),
        key_id: None,
        key_expires_at: None,
    }
}

fn audit(change: AccountChange, account: &Account, random: u8) -> AuditEntry {
    AuditEntry::new(change, &account.user_id, None, &account.user_id, at(100), [random; 8])
}

fn accounts(lab: &Lab) -> Accounts {
    Accounts::new(lab.aws().dynamodb(), lab.table("AccountsTable"))
}

fn accounts_in_lab() -> (Lab, Accounts) {
    let lab = Lab::new();
    let store = accounts(&lab);
    (lab, store)
}

#[tokio::test(start_paused = true)]
async fn what_is_created_reads_back_the_same_and_only_once() {
    let (_lab, accounts) = accounts_in_lab();
    let ada = account("ada", &[Role::Admin, Role::Member]);
    let created = |random, token| {
        let (accounts, ada) = (accounts.clone(), ada.clone());
        async move {
            let audit = audit(AccountChange::AccountCreated, &ada, random);
            accounts.create(&ada, &audit, None, token).await.unwrap()
        }
    };
    assert_eq!(created(1, "t1").await, AccountCreation::Created);
    assert_eq!(created(2, "t2").await, AccountCreation::Taken);
    assert_eq!(accounts.find(&ada.user_id).await.unwrap(), Some(ada.clone()));
    assert_eq!(accounts.trail(&ada.user_id, 10, None).await.unwrap().items.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_creation_whose_answer_was_lost_or_that_met_a_conflict_is_made_once() {
    for fault in [Fault::CommitThenTimeout, Fault::TransactionConflict, Fault::Throttle] {
        let lab = Lab::new();
        let ada = account("ada", &[]);
        lab.cloud.faults.inject(0, fault);
        let audit = audit(AccountChange::AccountCreated, &ada, 1);
        let made = accounts(&lab).create(&ada, &audit, None, "token").await.unwrap();
        assert_eq!(made, AccountCreation::Created, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_amendment_loses_to_a_newer_version_and_to_the_last_admin() {
    let (_lab, accounts) = accounts_in_lab();
    let ada = account("ada", &[Role::Admin]);
    accounts
        .create(&ada, &audit(AccountChange::AccountCreated, &ada, 1), None, "t1")
        .await
        .unwrap();
    let rename = Amendment { name: Some("A".into()), ..Amendment::default() };
    let next = ada.amend(&rename, true, at(200)).unwrap();
    let amend = |before: Account, after: Account, random: u8, token: &'static str| {
        let accounts = accounts.clone();
        async move {
            let audit = audit(AccountChange::AccountAmended, &before, random);
            accounts.amend(&before, &after, &audit, token).await.unwrap()
        }
    };
    assert_eq!(amend(ada.clone(), next.clone(), 2, "t2").await, AccountAmendment::Amended);
    assert_eq!(amend(ada, next.clone(), 3, "t3").await, AccountAmendment::Moved);
    let disable = Amendment { state: Some(AccountState::Disabled), ..Amendment::default() };
    let off = next.amend(&disable, true, at(300)).unwrap();
    assert_eq!(amend(next, off, 4, "t4").await, AccountAmendment::LastAdmin);
}

#[tokio::test(start_paused = true)]
async fn keys_are_made_for_active_accounts_and_revoked_by_their_owner() {
    let (_lab, accounts) = accounts_in_lab();
    let ada = account("ada", &[Role::Member]);
    accounts
        .create(&ada, &audit(AccountChange::AccountCreated, &ada, 1), None, "t1")
        .await
        .unwrap();
    let (api_key, _) = PresentedKey::made_from([1; 12], [2; 32]);
    let key = ApiKey::create(&ada, &api_key, &NewKey::default(), &root(), at(150)).unwrap();
    let made = audit(AccountChange::KeyCreated, &ada, 2);
    assert_eq!(accounts.create_key(&key, &made, None, "t2").await.unwrap(), KeyCreation::Created);
    let found = accounts.find_key(&key.key_id).await.unwrap().unwrap();
    assert_eq!((found.key_id, found.user_id), (key.key_id.clone(), ada.user_id.clone()));
    let (other, _) = PresentedKey::made_from([3; 12], [4; 32]);
    let stale = ApiKey { epoch: 7, key_id: other.key_id, ..key.clone() };
    let late = AuditEntry { audit_id: "late".to_owned(), ..made.clone() };
    assert_eq!(
        accounts.create_key(&stale, &late, None, "t2b").await.unwrap(),
        KeyCreation::AccountDisabled
    );

    let stranger = UserId::parse("eve").unwrap();
    let revoke = |user: UserId, random: u8, token: &'static str| {
        let (accounts, key_id) = (accounts.clone(), key.key_id.clone());
        async move {
            let audit = AuditEntry::new(
                AccountChange::KeyRevoked,
                &user,
                Some(&key_id),
                &user,
                at(200),
                [random; 8],
            );
            accounts.revoke_key(&user, &key_id, &audit, token).await.unwrap()
        }
    };
    assert_eq!(revoke(stranger, 3, "t3").await, KeyRevocation::Unknown);
    assert_eq!(revoke(ada.user_id.clone(), 4, "t4").await, KeyRevocation::Revoked);
    assert_eq!(revoke(ada.user_id.clone(), 5, "t5").await, KeyRevocation::Already);
}

#[tokio::test(start_paused = true)]
async fn the_latest_hour_of_use_stays_in_any_order() {
    let (_lab, accounts) = accounts_in_lab();
    let ada = account("ada", &[]);
    accounts
        .create(&ada, &audit(AccountChange::AccountCreated, &ada, 1), None, "t1")
        .await
        .unwrap();
    let (api_key, _) = PresentedKey::made_from([1; 12], [2; 32]);
    let key = ApiKey::create(&ada, &api_key, &NewKey::default(), &root(), at(150)).unwrap();
    let made = audit(AccountChange::KeyCreated, &ada, 2);
    accounts.create_key(&key, &made, None, "t2").await.unwrap();
    for hour in [3600, 10_800, 7200, 10_800] {
        accounts.record_key_use(&key.key_id, at(hour)).await.unwrap();
    }
    let found = accounts.find_key(&key.key_id).await.unwrap().unwrap();
    assert_eq!(found.last_used_at, Some(at(10_800)));
    let (unknown, _) = PresentedKey::made_from([9; 12], [9; 32]);
    accounts.record_key_use(&unknown.key_id, at(3600)).await.unwrap();
    assert!(accounts.find_key(&unknown.key_id).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn the_outbox_holds_a_change_until_it_is_marked() {
    let (_lab, accounts) = accounts_in_lab();
    let ada = account("ada", &[]);
    let audit = audit(AccountChange::AccountCreated, &ada, 1);
    accounts.create(&ada, &audit, None, "t1").await.unwrap();
    let later = format!("{:013}", 101_000);
    assert_eq!(accounts.unpublished(&later, 10).await.unwrap(), std::slice::from_ref(&audit));
    assert_eq!(accounts.unpublished("0000000099999", 10).await.unwrap(), []);
    for _ in 0..2 {
        accounts.mark_published(&audit).await.unwrap();
    }
    assert_eq!(accounts.unpublished(&later, 10).await.unwrap(), []);
}
