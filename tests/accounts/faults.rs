//! Accounts, keys and idempotency under faults.
//!
//! A client works through a random list of actions, repeating each with the same idempotency key
//! until it has a definite answer. Afterwards nothing goes wrong any more, everything comes to
//! rest, and what was acknowledged is compared with what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::SplitMix64;
use http::Method;
use local::faults::{Fault, Faults};
use serde_json::{Value, json};
use tests::{Lab, Response, Result, Setup, root_key};

use crate::faults::{run, sweep};

const ALL: &str = "/api/v1/accounts";
const ACTIONS: u64 = 14;

#[test]
fn seeds_hold() {
    sweep("accounts", |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

/// What was acknowledged, and so must be true.
#[derive(Default)]
struct Acknowledged {
    /// Idempotency key of a creation → the user id it was answered with.
    accounts: BTreeMap<String, String>,
    /// Key id → the whole key and its account.
    keys: BTreeMap<String, (String, String)>,
    revoked: BTreeSet<String>,
    disabled: BTreeSet<String>,
}

pub(super) async fn scenario(seed: u64, faults: Arc<Faults>) -> Result<BTreeMap<Fault, u64>> {
    let lab = Lab::with(Setup { seed, faults, skew_ms: 5_000, ..Setup::default() });
    EventListener::subscribe(&lab)?;
    let mut dice = SplitMix64::new(seed ^ 0xacc0);
    let mut acknowledged = Acknowledged::default();
    for action in 0..ACTIONS {
        match dice.below(10) {
            0..3 => create(&lab, &mut acknowledged, action, &mut dice).await?,
            3..5 => make_key(&lab, &mut acknowledged, action, &mut dice).await?,
            5 => revoke(&lab, &mut acknowledged, &mut dice).await?,
            6 => rename(&lab, &acknowledged, &mut dice).await?,
            7 => disable(&lab, &mut acknowledged, &mut dice).await?,
            8 => race(&lab, action).await?,
            _ => {
                lab.advance_seconds(i64::try_from(dice.below(90)).unwrap_or(0));
                lab.cloud.settle().await;
                if dice.below(3) == 0 {
                    lab.cloud.functions.go_cold();
                }
            }
        }
    }
    let counts = lab.cloud.faults.counts();
    lab.cloud.faults.stop();
    lab.run_until_idle().await;
    check_invariants(&lab, &acknowledged).await?;
    Ok(counts)
}

/// Repeats a call until it has a definite answer; time passes in between.
async fn retry(
    lab: &Lab,
    method: Method,
    path: &str,
    once: Option<&str>,
    body: &Value,
) -> Result<Response> {
    let mut call = lab.call(method, path).by(&root_key()).json(body);
    if let Some(key) = once {
        call = call.header("idempotency-key", key);
    }
    Ok(call.send_until_definite().await?.0)
}

async fn create(
    lab: &Lab,
    acknowledged: &mut Acknowledged,
    action: u64,
    dice: &mut SplitMix64,
) -> Result {
    let once = format!("account-{action}");
    let roles = if dice.below(3) == 0 { json!(["admin"]) } else { json!(["member"]) };
    let body = json!({ "name": once, "roles": roles });
    for _ in 0..=dice.below(2) {
        let answer = retry(lab, Method::POST, ALL, Some(&once), &body).await?;
        if answer.status != 201 {
            return Err(format!("creating {once}: {} {}", answer.status, answer.body));
        }
        let made = answer.text("userId").to_owned();
        let first = acknowledged.accounts.entry(once.clone()).or_insert_with(|| made.clone());
        if *first != made {
            return Err(format!("{once} was answered with {first} and with {made}"));
        }
    }
    Ok(())
}

fn random_account(acknowledged: &Acknowledged, dice: &mut SplitMix64) -> Option<String> {
    let index = usize::try_from(dice.below(acknowledged.accounts.len() as u64)).ok()?;
    acknowledged.accounts.values().nth(index).cloned()
}

async fn make_key(
    lab: &Lab,
    acknowledged: &mut Acknowledged,
    action: u64,
    dice: &mut SplitMix64,
) -> Result {
    let Some(user) = random_account(acknowledged, dice) else { return Ok(()) };
    let once = format!("key-{action}");
    let path = format!("{ALL}/{user}/keys");
    let answer = retry(lab, Method::POST, &path, Some(&once), &json!({ "name": once })).await?;
    match answer.status.as_u16() {
        201 => {
            let (id, key) = (answer.text("keyId").to_owned(), answer.text("key").to_owned());
            // Without the secret (the first answer was lost) the key is real but of no use.
            acknowledged.keys.insert(id, (key, user));
            Ok(())
        }
        409 if acknowledged.disabled.contains(&user) => Ok(()),
        status => Err(format!("making {once} for {user}: {status} {}", answer.body)),
    }
}

async fn revoke(lab: &Lab, acknowledged: &mut Acknowledged, dice: &mut SplitMix64) -> Result {
    let index = dice.index(acknowledged.keys.len());
    let Some((id, (_, user))) = acknowledged.keys.iter().nth(index) else { return Ok(()) };
    let path = format!("{ALL}/{user}/keys/{id}");
    let answer = retry(lab, Method::DELETE, &path, None, &Value::Null).await?;
    if answer.status != 204 {
        return Err(format!("revoking {id}: {} {}", answer.status, answer.body));
    }
    acknowledged.revoked.insert(id.clone());
    Ok(())
}

async fn rename(lab: &Lab, acknowledged: &Acknowledged, dice: &mut SplitMix64) -> Result {
    let Some(user) = random_account(acknowledged, dice) else { return Ok(()) };
    let path = format!("{ALL}/{user}");
    let read = retry(lab, Method::GET, &path, None, &Value::Null).await?;
    let version = read.header("etag").to_owned();
    // Two people change the same version; at most one of them may succeed.
    let change = |email: &'static str| {
        lab.call(Method::PATCH, &path)
            .by(&root_key())
            .header("if-match", &version)
            .json(&json!({ "email": email }))
            .send()
    };
    let (one, two) = futures::join!(change("a@example.org"), change("b@example.org"));
    if one.status == 200 && two.status == 200 {
        return Err(format!("version {version} of {user} was changed twice"));
    }
    Ok(())
}

async fn disable(lab: &Lab, acknowledged: &mut Acknowledged, dice: &mut SplitMix64) -> Result {
    let Some(user) = random_account(acknowledged, dice) else { return Ok(()) };
    let path = format!("{ALL}/{user}");
    let answer = retry(lab, Method::DELETE, &path, None, &Value::Null).await?;
    match answer.status.as_u16() {
        204 => {
            acknowledged.disabled.insert(user);
            Ok(())
        }
        // The last admin stays.
        409 => Ok(()),
        status => Err(format!("disabling {user}: {status} {}", answer.body)),
    }
}

/// Two callers want one user id, without idempotency keys.
async fn race(lab: &Lab, action: u64) -> Result {
    let user = format!("racer-{action}");
    let want = |name: &'static str| {
        let body = json!({ "userId": user, "name": name });
        async move { lab.post(ALL, &body).await }
    };
    let (one, two) = futures::join!(want("one"), want("two"));
    if one.status == 201 && two.status == 201 {
        return Err(format!("{user} was given to two callers"));
    }
    if one.status == 409 && two.status == 409 {
        return Err(format!("{user} was refused to both, so one met its own success"));
    }
    Ok(())
}

/// Hears every event, to see that each change is told at least once.
struct EventListener;

impl EventListener {
    const QUEUE: &str = "witness";

    fn subscribe(lab: &Lab) -> Result {
        let queues = lab.cloud.services.queues();
        let say = |error: queues::Error| error.to_string();
        let address = queues.create_queue(Self::QUEUE, &queues::Attributes::new()).map_err(say)?;
        let raw = [("RawMessageDelivery".to_owned(), "true".to_owned())].into();
        let topic = &lab.cloud.stack.topics[0].arn;
        queues.subscribe(topic, &address.arn, &raw).map_err(say)?;
        Ok(())
    }

    fn received(lab: &Lab) -> BTreeSet<String> {
        let messages = lab.cloud.services.queues().receive(Self::QUEUE, 10_000, None).unwrap();
        messages
            .iter()
            .map(|message| {
                let body: Value = serde_json::from_str(&message.body).unwrap();
                body["auditId"].as_str().unwrap().to_owned()
            })
            .collect()
    }
}

/// Every page of a list.
async fn everything(lab: &Lab, path: &str) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = lab.get(&format!("{path}?limit=100{cursor}")).await;
        items.extend(page.body["items"].as_array().cloned().unwrap_or_default());
        match page.body["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return items,
        }
    }
}

async fn check_invariants(lab: &Lab, acknowledged: &Acknowledged) -> Result {
    let accounts = everything(lab, ALL).await;
    for (once, user) in &acknowledged.accounts {
        let made: Vec<_> =
            accounts.iter().filter(|account| account["name"] == json!(once)).collect();
        if made.len() != 1 || made[0]["userId"] != json!(user) {
            return Err(format!("{once} was promised as {user} and made {} accounts", made.len()));
        }
    }
    let received = EventListener::received(lab);
    for account in &accounts {
        check_account(lab, acknowledged, account, &received).await?;
    }
    check_admins(lab, &accounts).await?;
    for (id, (key, user)) in &acknowledged.keys {
        if key.is_empty() {
            continue;
        }
        let answer = lab.call(Method::GET, "/api/v1/me").by(key).send().await;
        let dead = acknowledged.revoked.contains(id) || acknowledged.disabled.contains(user);
        let expected = if dead { 401 } else { 200 };
        if answer.status != expected {
            return Err(format!("key {id}: {} instead of {expected}", answer.status));
        }
    }
    Ok(())
}

/// The audit trail explains the account, and the listener received its event.
async fn check_account(
    lab: &Lab,
    acknowledged: &Acknowledged,
    account: &Value,
    received: &BTreeSet<String>,
) -> Result {
    let user = account["userId"].as_str().unwrap_or_default();
    let trail = everything(lab, &format!("{ALL}/{user}/audit")).await;
    let keys = everything(lab, &format!("{ALL}/{user}/keys")).await;
    let count = |change: &str| trail.iter().filter(|entry| entry["change"] == change).count();
    let changes = 1 + count("AccountAmended") + count("AccountDisabled");
    let revoked = keys.iter().filter(|key| key["revokedAt"].is_string()).count();
    let facts = [
        ("one creation", count("AccountCreated") == 1),
        ("a version for each change", account["version"] == json!(changes)),
        ("an entry for each key", count("KeyCreated") == keys.len()),
        ("no entry for a revocation that did not happen", count("KeyRevoked") <= revoked),
        ("its disabling", !acknowledged.disabled.contains(user) || account["state"] == "disabled"),
        ("the end of its keys", account["state"] == "active" || revoked == keys.len()),
    ];
    if let Some((fact, _)) = facts.iter().find(|(_, holds)| !holds) {
        return Err(format!("{user} lacks {fact}: {account} {trail:?} {keys:?}"));
    }
    let names: BTreeSet<_> = keys.iter().map(|key| key["name"].to_string()).collect();
    if names.len() != keys.len() {
        return Err(format!("{user} got two keys for one request: {keys:?}"));
    }
    match trail
        .iter()
        .find(|entry| !received.contains(entry["auditId"].as_str().unwrap_or_default()))
    {
        Some(entry) => Err(format!("no event was received for {entry}")),
        None => Ok(()),
    }
}

/// The set of admins is exactly the active admin accounts, and not empty once there was one.
async fn check_admins(lab: &Lab, accounts: &[Value]) -> Result {
    let is_admin = |account: &&Value| {
        account["roles"].as_array().is_some_and(|roles| roles.contains(&json!("admin")))
    };
    let ever = accounts.iter().filter(is_admin).count();
    let active: BTreeSet<String> = accounts
        .iter()
        .filter(is_admin)
        .filter(|account| account["state"] == "active")
        .map(|account| account["userId"].as_str().unwrap_or_default().to_owned())
        .collect();
    let row = lab
        .aws()
        .dynamodb()
        .get_item()
        .table_name(lab.table("AccountsTable"))
        .key("pk", aws_sdk_dynamodb::types::AttributeValue::S("admins".to_owned()))
        .key("sk", aws_sdk_dynamodb::types::AttributeValue::S("admins".to_owned()))
        .send()
        .await
        .map_err(|error| format!("{error:?}"))?;
    let stored: BTreeSet<String> = row
        .item()
        .and_then(|item| item.get("user_ids")?.as_ss().ok())
        .map(|ids| ids.iter().cloned().collect())
        .unwrap_or_default();
    if stored != active || (ever > 0 && active.is_empty()) {
        return Err(format!("admins are {active:?}, the row says {stored:?}, {ever} ever were"));
    }
    Ok(())
}
