//! A link's counters, read and added up.

use std::collections::BTreeMap;

use domain::links::Code;
use domain::links::counts::ClickCounts;
use domain::links::hyper_log_log::HyperLogLog;
use domain::{Failure, Result};

use super::batches::{day_sk, visitors_sk};
use super::{Links, rows};
use store::row::{Item, ItemReader, broken, text};

/// One day of a link.
#[derive(Debug, Clone, Default)]
pub struct DayStatistics {
    pub counts: ClickCounts,
    pub visitors: HyperLogLog,
}

/// The days of a period that had visits.
#[derive(Debug, Clone, Default)]
pub struct LinkStatistics {
    pub days: BTreeMap<String, DayStatistics>,
}

impl LinkStatistics {
    /// The sum of all days.
    pub fn counts(&self) -> ClickCounts {
        let mut all = ClickCounts::default();
        for day in self.days.values() {
            all.merge(&day.counts);
        }
        all
    }

    /// The estimated number of visitors. One who came on two days counts twice, because each day has its
    /// own salt.
    pub fn visitors(&self) -> u64 {
        let mut all = HyperLogLog::new();
        for day in self.days.values() {
            all.merge(&day.visitors);
        }
        all.estimate()
    }
}

impl Links {
    /// The counts of the days from `first` to `last`, both included.
    pub async fn statistics(
        &self,
        domain: &str,
        code: &Code,
        first: &str,
        last: &str,
    ) -> Result<LinkStatistics> {
        let mut statistics = LinkStatistics::default();
        let counts = (day_sk(first, 0), day_sk(last, 99));
        for item in self.counter_rows(domain, code, counts.0, counts.1).await? {
            let day = date_of(&item, "day#")?;
            let entry = statistics.days.entry(day).or_default();
            add_counters(&mut entry.counts, &item);
        }
        for item in self.counter_rows(domain, code, visitors_sk(first), visitors_sk(last)).await? {
            let day = date_of(&item, "visitors#")?;
            statistics.days.entry(day).or_default().visitors = read_sketch(&item)?;
        }
        Ok(statistics)
    }

    /// Everything ever counted for a link, without the breakdowns.
    pub async fn totals(&self, domain: &str, code: &Code) -> Result<ClickCounts> {
        let mut totals = ClickCounts::default();
        for item in
            self.counter_rows(domain, code, "total#".to_owned(), "total#~".to_owned()).await?
        {
            add_counters(&mut totals, &item);
        }
        Ok(totals)
    }

    /// Strongly consistent: it decides whether a link is spent.
    async fn counter_rows(
        &self,
        domain: &str,
        code: &Code,
        first: String,
        last: String,
    ) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        let mut start = None;
        loop {
            let found = self
                .client
                .query()
                .table_name(&self.table)
                .key_condition_expression("pk = :link AND sk BETWEEN :first AND :last")
                .expression_attribute_values(":link", text(rows::clicks_pk(domain, code.as_str())))
                .expression_attribute_values(":first", text(&first))
                .expression_attribute_values(":last", text(&last))
                .set_exclusive_start_key(start)
                .consistent_read(true)
                .send()
                .await
                .map_err(|cause| Failure::new("read the statistics", cause))?;
            items.extend(found.items.unwrap_or_default());
            start = found.last_evaluated_key;
            if start.is_none() {
                return Ok(items);
            }
        }
    }
}

pub(super) fn read_sketch(item: &Item) -> Result<HyperLogLog> {
    HyperLogLog::from_bytes(ItemReader(item).bytes("sketch")?).ok_or_else(|| broken("sketch"))
}

/// The ten characters of the date in a sort key.
fn date_of(item: &Item, prefix: &str) -> Result<String> {
    let date = ItemReader(item).text("sk")?.strip_prefix(prefix).and_then(|rest| rest.get(..10));
    date.map(str::to_owned).ok_or_else(|| broken("sk"))
}

fn add_counters(counts: &mut ClickCounts, item: &Item) {
    for (name, value) in item {
        if let Some(count) = value.as_n().ok().and_then(|text| text.parse().ok()) {
            counts.add_counter(name, count);
        }
    }
}
