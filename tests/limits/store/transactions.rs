//! Several counters in one transaction: all or none, and who refuses is shown.

use domain::SplitMix64;
use domain::limits::Algorithm;
use domain::limits::counter::{CounterRow, CounterWrite};
use domain::limits::ledger::DebitOutcome;
use futures::future::join_all;
use local::faults::Fault;
use store::limits::CounterKey;

use super::agreement::Twin;
use super::{NOW, at, debit, limits_in_lab, quota};

#[tokio::test(start_paused = true)]
async fn all_are_debited_or_none_and_each_that_refuses_is_shown() {
    let (_lab, rows) = limits_in_lab();
    let (mut won, mut lost) = (0, 0);
    for seed in 0..12 {
        let mut dice = SplitMix64::new(seed);
        let mut twins: Vec<Twin> = (0..3)
            .map(|index| {
                let algorithm = Algorithm::ALL[dice.index(5)];
                Twin::new(quota(algorithm, 20), &format!("rule-{seed}-{index}"))
            })
            .collect();
        for _ in 0..12 {
            let wanted: Vec<Option<CounterWrite>> =
                twins.iter_mut().map(|twin| twin.some_write(&mut dice)).collect();
            let Some(wanted) = wanted.into_iter().collect::<Option<Vec<CounterWrite>>>() else {
                continue;
            };
            let writes: Vec<(CounterKey, &CounterWrite)> =
                twins.iter().map(|twin| twin.key.clone()).zip(&wanted).collect();
            let said = rows.write_together(&writes, at(NOW)).await.unwrap();
            let meant: Vec<Option<CounterRow>> = twins
                .iter()
                .zip(&wanted)
                .map(|(twin, write)| CounterRow::apply(twin.row(), write))
                .collect();
            if let Some(after) = meant.iter().cloned().collect::<Option<Vec<CounterRow>>>() {
                assert_eq!(said, vec![DebitOutcome::CommittedUnseen; 3]);
                for (twin, row) in twins.iter_mut().zip(after) {
                    twin.become_row(row);
                }
                won += 1;
            } else {
                let refused = twins.iter().zip(&meant).map(|(twin, after)| match after {
                    Some(_) => DebitOutcome::Skipped,
                    None => DebitOutcome::ConditionFailed(twin.row().cloned()),
                });
                assert_eq!(said, refused.collect::<Vec<_>>());
                lost += 1;
            }
            for twin in &twins {
                assert_eq!(rows.counter(&twin.key).await.unwrap().as_ref(), twin.row());
            }
        }
    }
    assert!(won > 10 && lost > 10, "{won} won and {lost} lost");
}

#[tokio::test(start_paused = true)]
async fn of_many_who_want_the_last_units_of_two_counters_as_many_win_as_there_are() {
    let (_lab, rows) = limits_in_lab();
    let (wide, narrow) = (quota(Algorithm::FixedWindow, 20), quota(Algorithm::FixedWindow, 5));
    let keys = [CounterKey::new("wide", &wide, "", 0), CounterKey::new("narrow", &narrow, "", 0)];
    let first = [debit(&wide, None, 1, NOW), debit(&narrow, None, 1, NOW)];
    let known = |write: &CounterWrite| CounterRow::apply(None, write);
    let next = [
        debit(&wide, known(&first[0]).as_ref(), 1, NOW),
        debit(&narrow, known(&first[1]).as_ref(), 1, NOW),
    ];
    let take = |writes: &[CounterWrite; 2]| {
        let writes: Vec<_> = keys.iter().cloned().zip(writes.clone()).collect();
        let rows = rows.clone();
        async move {
            let writes: Vec<_> = writes.iter().map(|(key, write)| (key.clone(), write)).collect();
            rows.write_together(&writes, at(NOW)).await.unwrap()
        }
    };
    assert_eq!(take(&first).await, [DebitOutcome::CommittedUnseen, DebitOutcome::CommittedUnseen]);
    let outcomes = join_all((0..10).map(|_| take(&next))).await;
    let won = outcomes.iter().filter(|outcome| outcome[0] == DebitOutcome::CommittedUnseen).count();
    assert_eq!(won, 4);
    for (key, used) in keys.iter().zip([5, 5]) {
        assert_eq!(rows.counter(key).await.unwrap().map(|row| row.used), Some(used));
    }
}

#[tokio::test(start_paused = true)]
async fn a_transaction_that_meets_another_has_refused_nothing() {
    let (lab, rows) = limits_in_lab();
    let quota = quota(Algorithm::FixedWindow, 20);
    let keys = [CounterKey::new("one", &quota, "", 0), CounterKey::new("two", &quota, "", 0)];
    let write = debit(&quota, None, 1, NOW);
    let writes = keys.clone().map(|key| (key, &write));
    lab.cloud.faults.inject(0, Fault::TransactionConflict);
    let outcomes = rows.write_together(&writes, at(NOW)).await.unwrap();
    assert_eq!(outcomes, [DebitOutcome::Skipped, DebitOutcome::Skipped]);
    assert_eq!(rows.counter(&keys[0]).await.unwrap(), None);
}
