//! What was counted, read back and added up.

use std::collections::BTreeMap;

use domain::Failure;
use domain::links::Code;
use domain::links::counts::Counts;
use domain::links::sketch::Sketch;

use super::batches::{day_sk, visitors_sk};
use super::{Links, rows};
use store::row::{Item, Row, broken, text};

/// One day of a link.
#[derive(Debug, Clone, Default)]
pub struct Day {
    /// What was counted.
    pub counts: Counts,
    pub visitors: Sketch,
}

/// The days of a period that saw anything.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    pub days: BTreeMap<String, Day>,
}

impl Statistics {
    /// Everything that was counted in the period.
    pub fn counts(&self) -> Counts {
        let mut all = Counts::default();
        for day in self.days.values() {
            all.merge(&day.counts);
        }
        all
    }

    /// How many visitors came. One who came on two days counts twice, because nothing that could
    /// tell is kept overnight.
    pub fn visitors(&self) -> u64 {
        let mut all = Sketch::new();
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
    ) -> Result<Statistics, Failure> {
        let mut statistics = Statistics::default();
        let counts = (day_sk(first, 0), day_sk(last, 99));
        for item in self.between(domain, code, counts.0, counts.1).await? {
            let day = date_of(&item, "day#")?;
            let entry = statistics.days.entry(day).or_default();
            absorb(&mut entry.counts, &item);
        }
        for item in self.between(domain, code, visitors_sk(first), visitors_sk(last)).await? {
            let day = date_of(&item, "visitors#")?;
            statistics.days.entry(day).or_default().visitors = read_sketch(&item)?;
        }
        Ok(statistics)
    }

    /// Everything ever counted for a link, without the breakdowns.
    pub async fn totals(&self, domain: &str, code: &Code) -> Result<Counts, Failure> {
        let mut totals = Counts::default();
        for item in self.between(domain, code, "total#".to_owned(), "total#~".to_owned()).await? {
            absorb(&mut totals, &item);
        }
        Ok(totals)
    }

    /// Read up to date: whether a link is spent is decided by this.
    async fn between(
        &self,
        domain: &str,
        code: &Code,
        first: String,
        last: String,
    ) -> Result<Vec<Item>, Failure> {
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

pub(super) fn read_sketch(item: &Item) -> Result<Sketch, Failure> {
    Sketch::from_bytes(Row(item).bytes("sketch")?).ok_or_else(|| broken("sketch"))
}

/// The ten characters of the date in a sort key.
fn date_of(item: &Item, prefix: &str) -> Result<String, Failure> {
    let date = Row(item).text("sk")?.strip_prefix(prefix).and_then(|rest| rest.get(..10));
    date.map(str::to_owned).ok_or_else(|| broken("sk"))
}

fn absorb(counts: &mut Counts, item: &Item) {
    for (name, value) in item {
        if let Some(count) = value.as_n().ok().and_then(|text| text.parse().ok()) {
            counts.absorb(name, count);
        }
    }
}
