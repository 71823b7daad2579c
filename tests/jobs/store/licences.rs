//! Types, and the licences of their jobs.

use ::jobs::store::{CommitOutcome, LicenceHolder, SaveOutcome};
use domain::jobs::licence::LicenceShard;
use domain::jobs::{JobEvent, JobType, JobTypeSettings};

use crate::jobs::{leave_holder, set_licence_count};

use super::{apply_event, assign, at, fresh, id, job_type, new_job, running, submit, worker};

/// A version of the type, with its limit and number of shards.
fn version(version: u64, max_concurrent: u32, shards: u8) -> JobType {
    let settings =
        JobTypeSettings { max_concurrent, licence_shards: shards, ..JobTypeSettings::default() };
    JobType { settings, peak_shards: shards, version, ..job_type(0) }
}

fn numbers(rows: &[LicenceShard]) -> Vec<(u32, u32)> {
    rows.iter().map(|row| (row.in_use, row.max)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_last_licence_is_taken_and_no_further_one() {
    let (_lab, jobs) = fresh();
    for n in 1..=6 {
        submit(&jobs, &new_job(n, &[])).await;
    }
    for n in 1..=6 {
        let (came, _) = apply_event(&jobs, &new_job(n, &[]), assign(), &format!("{n}")).await;
        assert_eq!(
            came,
            if n <= 5 { CommitOutcome::Committed } else { CommitOutcome::NoLicence },
            "{n}"
        );
    }
    assert_eq!(numbers(&jobs.licence_shards(&job_type(5)).await.unwrap()), [(5, 5)]);
    assert_eq!(jobs.find(&id(6)).await.unwrap(), Some(new_job(6, &[])));
    let holders = jobs.holders(&job_type(5).name, 0, 100).await.unwrap();
    assert_eq!(holders.len(), 5);
    assert!(holders.contains(&LicenceHolder { job: id(1), check_due_at: Some(at(61)) }));
}

#[tokio::test(start_paused = true)]
async fn a_licence_goes_back_with_the_end_even_if_its_row_is_wrong() {
    let (lab, jobs) = fresh();
    for (n, tampered) in [(1, false), (2, true)] {
        let job = running(&jobs, n).await;
        if tampered {
            set_licence_count(&lab, 0).await;
        }
        let done = JobEvent::Completed {
            worker: worker("w"),
            attempt: 1,
            artifacts: Vec::new(),
            result: None,
        };
        assert_eq!(
            apply_event(&jobs, &job, done, &format!("end-{n}")).await.0,
            CommitOutcome::Committed
        );
        assert_eq!(numbers(&jobs.licence_shards(&job_type(5)).await.unwrap()), [(0, 5)]);
        assert!(jobs.holders(&job_type(5).name, 0, 100).await.unwrap().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_type_that_has_changed_since_it_was_read_is_not_saved() {
    let (_lab, jobs) = fresh();
    let save = async |job_type: &JobType, token: &str| {
        let rows = jobs.licence_shards(job_type).await.unwrap();
        jobs.save_job_type(job_type, &rows, token).await.unwrap()
    };
    assert_eq!(save(&version(1, 5, 1), "a").await, SaveOutcome::Saved);
    assert_eq!(save(&version(1, 6, 1), "b").await, SaveOutcome::Conflict);
    assert_eq!(save(&version(3, 6, 1), "c").await, SaveOutcome::Conflict);
    assert_eq!(jobs.job_type(&job_type(5).name).await.unwrap(), Some(version(1, 5, 1)));
    assert_eq!(save(&version(2, 6, 1), "d").await, SaveOutcome::Saved);
    assert_eq!(jobs.job_type(&job_type(5).name).await.unwrap(), Some(version(2, 6, 1)));
    assert_eq!(numbers(&jobs.licence_shards(&version(2, 6, 1)).await.unwrap()), [(0, 6)]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_is_not_split_by_a_count_that_has_grown() {
    let (_lab, jobs) = fresh();
    let spread = version(1, 4, 2);
    let rows = jobs.licence_shards(&spread).await.unwrap();
    assert_eq!(jobs.save_job_type(&spread, &rows, "save").await.unwrap(), SaveOutcome::Saved);
    let seen = jobs.licence_shards(&spread).await.unwrap();
    assert_eq!(numbers(&seen), [(0, 2), (0, 2)]);
    let job = running(&jobs, 1).await;
    assert_eq!(
        jobs.rebalance_licences(&spread, &seen, "grown").await.unwrap(),
        SaveOutcome::Conflict
    );
    let lowered = version(2, 1, 2);
    assert_eq!(jobs.save_job_type(&lowered, &seen, "lower").await.unwrap(), SaveOutcome::Conflict);
    let seen = jobs.licence_shards(&spread).await.unwrap();
    let other = version(2, 4, 2);
    assert_eq!(
        jobs.rebalance_licences(&other, &seen, "other").await.unwrap(),
        SaveOutcome::Conflict,
        "a version"
    );
    let given_up = JobEvent::Failed {
        worker: worker("w"),
        attempt: 1,
        retryable: false,
        error: String::new(),
        jitter: 0,
    };
    apply_event(&jobs, &job, given_up, "end").await;
    assert_eq!(jobs.rebalance_licences(&spread, &seen, "fewer").await.unwrap(), SaveOutcome::Saved);
    let rows = jobs.licence_shards(&spread).await.unwrap();
    assert!(rows.iter().map(|row| row.max).sum::<u32>() <= 4, "{rows:?}");
}

#[tokio::test(start_paused = true)]
async fn a_count_is_corrected_unless_the_row_has_changed_since() {
    let (lab, jobs) = fresh();
    let name = job_type(5).name;
    assert_eq!(jobs.count_holders(&name, 0).await.unwrap(), None, "there is no row yet");
    running(&jobs, 1).await;
    set_licence_count(&lab, 4).await;
    let counted = jobs.count_holders(&name, 0).await.unwrap().unwrap();
    assert_eq!((counted.licence.in_use, counted.holders.len()), (4, 1));
    running(&jobs, 2).await;
    jobs.correct_count(&name, &counted).await.unwrap();
    assert_eq!(
        numbers(&jobs.licence_shards(&job_type(5)).await.unwrap()),
        [(5, 5)],
        "it came since"
    );
    let counted = jobs.count_holders(&name, 0).await.unwrap().unwrap();
    jobs.correct_count(&name, &counted).await.unwrap();
    assert_eq!(numbers(&jobs.licence_shards(&job_type(5)).await.unwrap()), [(2, 5)]);
}

#[tokio::test(start_paused = true)]
async fn a_licence_is_reclaimed_only_if_its_job_does_not_hold_it() {
    let (lab, jobs) = fresh();
    let name = job_type(5).name;
    let held = running(&jobs, 1).await;
    jobs.reclaim_licence(&name, 0, &held.id, "busy").await.unwrap();
    assert_eq!(numbers(&jobs.licence_shards(&job_type(5)).await.unwrap()), [(1, 5)]);
    for (leaked, token) in [(id(8), "lost"), (id(2), "idle")] {
        submit(&jobs, &new_job(2, &[])).await;
        leave_holder(&lab, leaked.as_str()).await;
        set_licence_count(&lab, 2).await;
        for _ in 0..2 {
            jobs.reclaim_licence(&name, 0, &leaked, token).await.unwrap();
            jobs.reclaim_licence(&name, 0, &leaked, &format!("{token}-again")).await.unwrap();
        }
        assert_eq!(numbers(&jobs.licence_shards(&job_type(5)).await.unwrap()), [(1, 5)]);
        assert_eq!(jobs.holders(&name, 0, 9).await.unwrap().len(), 1);
    }
}
