//! Proves that ids are unique without remembering them all.
//!
//! The ids of one node increase. All of them lie inside a lease, and no two leases of a shard
//! overlap. So two equal ids would have to come from one lease, that is from one node, and could
//! not have increased. Each premise is checked for every id. As a check on the proof itself, the
//! ids of some milliseconds are collected and compared one by one.

use super::IdsReport;
use domain::ids::Id;
use domain::ids::{IdLease, LeaseRow};
use domain::ids::{MACHINE_SHARDS, MachineShard};

/// The audit's own note of what a node may use, kept apart from what its generator believes.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeasedInterval {
    shard: MachineShard,
    from_ms: u64,
    until_ms: u64,
}

pub(super) struct Audit {
    /// Up to where each shard's timestamps are spent.
    spent: Vec<u64>,
    compare_one_in: u64,
    collected: Vec<Id>,
    overlapping_leases: u64,
    outside_lease: u64,
    out_of_order: u64,
}

impl LeasedInterval {
    pub(super) const fn of(lease: &IdLease) -> Self {
        Self { shard: lease.shard(), from_ms: lease.from_ms(), until_ms: lease.until_ms() }
    }

    /// Goes on with another lease. One that follows directly on the same shard adds to this one.
    pub(super) fn follow(&mut self, lease: &IdLease) {
        let next = Self::of(lease);
        let continues = next.shard == self.shard && next.from_ms == self.until_ms;
        *self = if continues { Self { from_ms: self.from_ms, ..next } } else { next };
    }

    fn covers(&self, id: Id) -> bool {
        (self.from_ms..self.until_ms).contains(&id.unix_ms())
            && id.machine_id() == self.shard.machine_id()
            && self.shard.range().numbers().contains(&id.sequence())
    }
}

impl Audit {
    pub(super) fn new(compare_one_in: u64) -> Self {
        Self {
            spent: vec![0; usize::from(MACHINE_SHARDS)],
            compare_one_in: compare_one_in.max(1),
            collected: Vec::new(),
            overlapping_leases: 0,
            outside_lease: 0,
            out_of_order: 0,
        }
    }

    /// Notes an interval that the store gave away, whether or not anyone learned of it.
    pub(super) fn committed(&mut self, row: &LeaseRow, from_ms: u64, before: Option<&LeaseRow>) {
        let spent = &mut self.spent[usize::from(row.shard.number())];
        let forgotten = before.map_or(0, |row| row.ended_at_ms) != *spent;
        self.overlapping_leases += u64::from(from_ms < *spent || forgotten);
        *spent = (*spent).max(row.ended_at_ms);
    }

    /// Checks the ids of one fill, which all carry the same millisecond.
    ///
    /// If they increase and the first and the last are covered, those between are too: they share the
    /// bits above the sequence, and their sequence lies between.
    pub(super) fn issued(&mut self, interval: &LeasedInterval, last: &mut Option<Id>, ids: &[Id]) {
        let (Some(&first), Some(&newest)) = (ids.first(), ids.last()) else {
            return;
        };
        let steps_back = ids.windows(2).filter(|pair| pair[1] <= pair[0]).count() as u64;
        self.out_of_order += steps_back + u64::from(*last >= Some(first));
        let same_millisecond = first.unix_ms() == newest.unix_ms();
        let covered = same_millisecond && interval.covers(first) && interval.covers(newest);
        self.outside_lease += u64::from(!covered);
        *last = Some(newest);
        if first.unix_ms().is_multiple_of(self.compare_one_in) {
            self.collected.extend_from_slice(ids);
        }
    }

    /// Compares what was collected and adds all findings to the report.
    pub(super) fn conclude(&mut self, report: &mut IdsReport) {
        self.collected.sort_unstable();
        let repeated = self.collected.windows(2).filter(|pair| pair[0] == pair[1]).count();
        report.compared = self.collected.len() as u64;
        report.repeated = repeated as u64;
        report.overlapping_leases = self.overlapping_leases;
        report.outside_lease = self.outside_lease;
        report.out_of_order = self.out_of_order;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::{EPOCH_MS, RequestId};

    const STRETCH: fn() -> LeasedInterval = || LeasedInterval {
        shard: MachineShard::new(1).unwrap(),
        from_ms: EPOCH_MS + 10,
        until_ms: EPOCH_MS + 20,
    };

    fn id(ms: u64, machine_id: u64, sequence: u64) -> Id {
        Id::new(ms << 22 | machine_id << 12 | sequence).unwrap()
    }

    fn findings(batches: &[&[Id]]) -> IdsReport {
        let (mut audit, mut last, mut report) = (Audit::new(1), None, IdsReport::default());
        for ids in batches {
            audit.issued(&STRETCH(), &mut last, ids);
        }
        audit.conclude(&mut report);
        report
    }

    #[test]
    fn proper_ids_raise_nothing() {
        let report = findings(&[&[id(10, 1, 0), id(10, 1, 1)], &[id(19, 1, 0)]]);
        assert_eq!((report.duplicates(), report.out_of_order, report.compared), (0, 0, 3));
    }

    #[test]
    fn ids_outside_their_lease_are_found() {
        for stray in [id(9, 1, 0), id(20, 1, 0), id(15, 2, 0)] {
            assert_eq!(findings(&[&[stray]]).outside_lease, 1, "{stray:?}");
        }
    }

    #[test]
    fn repeated_and_descending_ids_are_found() {
        let again = id(10, 1, 0);
        assert_eq!(findings(&[&[again, again]]).repeated, 1);
        assert_eq!(findings(&[&[again], &[again]]).out_of_order, 1);
        assert_eq!(findings(&[&[id(10, 1, 1), id(10, 1, 0)]]).out_of_order, 1);
    }

    #[test]
    fn overlapping_leases_and_forgotten_rows_are_found() {
        let row =
            |ended_at_ms| LeaseRow { shard: STRETCH().shard, ended_at_ms, holder: RequestId(1) };
        let mut audit = Audit::new(1);
        audit.committed(&row(20), 10, None);
        audit.committed(&row(30), 20, Some(&row(20)));
        assert_eq!(audit.overlapping_leases, 0);
        audit.committed(&row(40), 29, Some(&row(30)));
        audit.committed(&row(50), 45, None);
        assert_eq!(audit.overlapping_leases, 2);
    }
}
