//! What single keys asked for, minute by minute.

use hashbrown::HashMap;

use super::{MINUTE_MS, MINUTES, UsageReport};

/// What one key asked for in each of the last sixty whole minutes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageSeries {
    pub entity: String,
    /// The first minute: time ÷ a minute's length.
    pub first_minute: i64,
    /// Units asked for in each minute, the denied ones included.
    pub asked: [u64; MINUTES],
    pub denied: [u64; MINUTES],
}

impl UsageSeries {
    /// The usage of each entity in the sixty minutes that ended by `now_ms`, over all the rows that
    /// are given: those of one dimension, and of the resources that are meant. Sorted by entity.
    pub fn by_entity(rows: impl IntoIterator<Item = UsageReport>, now_ms: i64) -> Vec<Self> {
        let first_minute = Self::first_minute(now_ms);
        let mut found: HashMap<String, Self> = HashMap::new();
        for row in rows {
            let Some(minute) = row.minute.checked_sub(first_minute) else { continue };
            let Some(minute) = usize::try_from(minute).ok().filter(|&at| at < MINUTES) else {
                continue;
            };
            let series = found.entry_ref(&row.entity).or_insert_with(|| Self {
                entity: row.entity.clone(),
                first_minute,
                asked: [0; MINUTES],
                denied: [0; MINUTES],
            });
            series.asked[minute] = series.asked[minute].saturating_add(row.asked);
            series.denied[minute] = series.denied[minute].saturating_add(row.denied);
        }
        let mut all_series: Vec<Self> = found.into_values().collect();
        all_series.sort_by(|one, other| one.entity.cmp(&other.entity));
        all_series
    }

    /// The first of the sixty minutes that ended by `now_ms`.
    pub fn first_minute(now_ms: i64) -> i64 {
        now_ms.div_euclid(MINUTE_MS).saturating_sub(60)
    }
}
