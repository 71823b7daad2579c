//! What was asked and refused in the last hour: a row for each hour and key, two numbers a minute.
//!
//! Reports are added up. One that is committed and then repeated counts twice, which a report may.

use domain::limits::history::UsageReport;
use domain::limits::rule::Dimension;
use domain::{Failure, Result, Timestamp};
use sha2::{Digest, Sha256};

use super::Limits;
use crate::row::{Item, ItemReader, broken, key, number, text};
use crate::schema::EXPIRES;

const HOUR_SECONDS: i64 = 3_600;

/// Partitions of an hour: hundreds of nodes report to it.
const PARTITIONS: u8 = 4;

impl Limits {
    pub async fn add_usage_report(&self, report: &UsageReport) -> Result {
        let (hour, minute) = (report.minute.div_euclid(60), report.minute.rem_euclid(60));
        let name = format!("{}#{}#{}", report.dimension.name(), report.resource, report.entity);
        let partition = Sha256::digest(name.as_bytes())[0] % PARTITIONS;
        self.client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(&pk(hour, partition), &name)))
            .update_expression(
                "ADD #asked :asked, #denied :denied \
                 SET #resource = :resource, #dimension = :dimension, #entity = :entity, \
                 #hour = :hour, #expires = :expires",
            )
            .expression_attribute_names("#asked", format!("asked_{minute}"))
            .expression_attribute_names("#denied", format!("denied_{minute}"))
            .expression_attribute_names("#resource", "resource")
            .expression_attribute_names("#dimension", "dimension")
            .expression_attribute_names("#entity", "entity")
            .expression_attribute_names("#hour", "hour")
            .expression_attribute_names("#expires", EXPIRES)
            .expression_attribute_values(":asked", number(report.asked))
            .expression_attribute_values(":denied", number(report.denied))
            .expression_attribute_values(":resource", text(&report.resource))
            .expression_attribute_values(":dimension", text(report.dimension.name()))
            .expression_attribute_values(":entity", text(&report.entity))
            .expression_attribute_values(":hour", number(hour))
            .expression_attribute_values(":expires", number((hour + 3) * HOUR_SECONDS))
            .send()
            .await
            .map_err(|error| Failure::new("report what was asked", error))?;
        Ok(())
    }

    /// Everything reported of this hour and the last.
    pub async fn usage_reports(&self, now: Timestamp) -> Result<Vec<UsageReport>> {
        let hour = now.as_second().div_euclid(HOUR_SECONDS);
        let mut reports = Vec::new();
        for hour in [hour - 1, hour] {
            for partition in 0..PARTITIONS {
                self.read_usage_reports(&pk(hour, partition), &mut reports).await?;
            }
        }
        Ok(reports)
    }

    async fn read_usage_reports(&self, pk: &str, reports: &mut Vec<UsageReport>) -> Result {
        let mut start: Option<Item> = None;
        loop {
            let page = self
                .client
                .query()
                .table_name(&self.table)
                .key_condition_expression("pk = :pk")
                .expression_attribute_values(":pk", text(pk))
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(|error| Failure::new("read what was asked", error))?;
            for item in page.items() {
                read(item, reports)?;
            }
            start = page.last_evaluated_key().cloned();
            if start.is_none() {
                return Ok(());
            }
        }
    }
}

fn pk(hour: i64, partition: u8) -> String {
    format!("seen#{hour}#{partition}")
}

fn read(item: &Item, reports: &mut Vec<UsageReport>) -> Result {
    let row = ItemReader(item);
    let hour: i64 = row.number("hour")?;
    let dimension = Dimension::parse(row.text("dimension")?).ok_or_else(|| broken("dimension"))?;
    for minute in 0..60 {
        let count = |what: &str| row.maybe_number(&format!("{what}_{minute}")).unwrap_or(0);
        let (asked, denied) = (count("asked"), count("denied"));
        if asked > 0 {
            reports.push(UsageReport {
                minute: hour * 60 + minute,
                resource: row.text("resource")?.to_owned(),
                dimension,
                entity: row.text("entity")?.to_owned(),
                asked,
                denied,
            });
        }
    }
    Ok(())
}
