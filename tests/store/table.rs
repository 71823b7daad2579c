//! Tables: labelled transactions, queries page by page, and walks, on rows of no system.

use domain::Result;
use serde::{Deserialize, Serialize};
use store::schema::GSI2;
use store::{
    ABSENT, ALWAYS, FailedConditions, IndexKeys, Item, Key, PRESENT, Row, Table, TryOutcome,
    TxOutcome, Updated, given, plain, read,
};
use tests::Lab;

/// A row of a list, with a number.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    name: String,
    n: u32,
}

fn entry(name: &str, n: u32) -> Entry {
    Entry { name: name.to_owned(), n }
}

fn key(name: &str) -> Key {
    Key::new("entries", name)
}

impl Row for Entry {
    fn key(&self) -> Key {
        key(&self.name)
    }

    fn attributes(&self) -> Result<Item> {
        plain(self)
    }

    fn index_keys(&self) -> IndexKeys {
        [None, Some((format!("list#{}", self.n % 2), format!("{:03}", self.n))), None]
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    First,
    Second,
    Third,
}

fn table(lab: &Lab) -> Table {
    Table::new(lab.aws().dynamodb(), lab.table("JobsTable"))
}

async fn put(table: &Table, entries: impl IntoIterator<Item = Entry>) {
    for entry in entries {
        let token = format!("put-{}", entry.name);
        let ended = table.tx("put").put((), entry, ABSENT).commit(&token).await.unwrap();
        assert!(matches!(ended, TxOutcome::Committed));
    }
}

async fn found(table: &Table, name: &str) -> Option<Entry> {
    table.get(key(name), "look").await.unwrap()
}

fn lost<P: std::fmt::Debug>(ended: TxOutcome<P>) -> FailedConditions<P> {
    let TxOutcome::ConditionFailed(lost) = ended else { panic!("it was committed") };
    lost
}

#[tokio::test(start_paused = true)]
async fn a_transaction_names_every_part_that_lost_and_goes_on_without_them() {
    let lab = Lab::new();
    let table = table(&lab);
    put(&table, [entry("a", 1), entry("b", 2)]).await;
    let more = given("#n < :most").with(":most", 2).with(":one", 1).returning_old();
    let mut tx = table
        .tx("change")
        .put(Part::First, entry("a", 9), ABSENT)
        .update(Part::Second, key("b"), "ADD #n :one", more)
        .put(Part::Third, entry("c", 3), ABSENT);
    let lost = lost(tx.commit("first").await.unwrap());
    let has = [Part::First, Part::Second, Part::Third].map(|part| lost.has(part));
    assert_eq!(has, [true, true, false]);
    assert!(lost.at(Part::First).unwrap().is_empty(), "it did not ask");
    assert_eq!(read::<Entry>(lost.at(Part::Second).unwrap().clone()).unwrap(), entry("b", 2));
    assert_eq!(found(&table, "c").await, None);
    let ended = tx.without(&lost).commit("second").await.unwrap();
    assert!(matches!(ended, TxOutcome::Committed));
    assert_eq!(found(&table, "a").await, Some(entry("a", 1)));
    assert_eq!(found(&table, "c").await, Some(entry("c", 3)));
}

#[tokio::test(start_paused = true)]
async fn a_request_with_the_same_token_is_made_once() {
    let lab = Lab::new();
    let table = table(&lab);
    for _ in 0..2 {
        put(&table, [entry("a", 1)]).await;
    }
    let once = table.tx("again").put((), entry("a", 2), ABSENT).try_commit().await.unwrap();
    let TryOutcome::Ended(ended) = once else { panic!("no other transaction runs") };
    assert!(lost(ended).has(()), "a single try has no token");
}

#[tokio::test(start_paused = true)]
async fn an_update_says_what_it_met_and_a_lost_one_that_may_be_repeated_is_done() {
    let lab = Lab::new();
    let table = table(&lab);
    put(&table, [entry("a", 1)]).await;
    let raise = |from: u32| given("n = :from").with(":from", from).with(":one", 1);
    for (from, n) in [(1, 2), (1, 2)] {
        let action = "raise";
        table.update(key("a"), "ADD n :one", raise(from), action).await.unwrap();
        assert_eq!(found(&table, "a").await, Some(entry("a", n)));
    }
    let raised = table.update_returning(key("a"), "ADD n :one", raise(2), "raise").await.unwrap();
    let Updated::Done(item) = raised else { panic!("{raised:?}") };
    assert_eq!(read::<Entry>(item).unwrap(), entry("a", 3));
    let met = table.update_returning(key("a"), "ADD n :one", raise(2), "raise").await.unwrap();
    let Updated::ConditionFailed(Some(item)) = met else { panic!("{met:?}") };
    assert_eq!(read::<Entry>(item).unwrap(), entry("a", 3));
    for condition in [PRESENT, PRESENT, ALWAYS] {
        table.delete(key("a"), condition, "forget").await.unwrap();
        assert_eq!(found(&table, "a").await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_query_comes_page_by_page_and_filters_what_it_reads() {
    let lab = Lab::new();
    let table = table(&lab);
    put(&table, (1..=5).map(|n| entry(&n.to_string(), n))).await;
    let all = || table.query("list", "pk = :pk").with(":pk", "entries");
    let mut query = all().limit(2).filter("#n <> :two").with(":two", 2);
    let mut pages = Vec::new();
    while let Some(page) = query.next_page().await.unwrap() {
        pages.push(page.len());
    }
    assert_eq!(pages, [1, 2, 1]);
    assert_eq!(all().limit(2).all::<Entry>().await.unwrap().len(), 5);
    assert_eq!(all().count().await.unwrap(), 5);
    let mut last = all().limit(1).backwards();
    assert_eq!(last.page::<Entry>().await.unwrap(), [entry("5", 5)]);
    let odd = table.query("list", "gsi2pk = :list").index(GSI2).with(":list", "list#1");
    assert_eq!(odd.all::<Entry>().await.unwrap(), [1, 3, 5].map(|n| entry(&n.to_string(), n)));
}

#[tokio::test(start_paused = true)]
async fn a_walk_goes_on_where_the_last_one_stopped_and_begins_again_at_the_end() {
    let lab = Lab::new();
    let table = table(&lab);
    put(&table, (1..=5).map(|n| entry(&n.to_string(), n))).await;
    let lists = || ["list#0", "list#1"].map(str::to_owned);
    for expected in [[vec![2, 4], vec![1, 3]], [vec![], vec![5]], [vec![2, 4], vec![1, 3]]] {
        let mut walk = table.walk::<Entry>("entries", lists(), 2);
        let mut seen = Vec::new();
        while let Some(page) = walk.next_page().await.unwrap() {
            seen.push(page.iter().map(|entry| entry.n).collect::<Vec<_>>());
        }
        assert_eq!(seen, expected);
        walk.save_position().await.unwrap();
    }
}
