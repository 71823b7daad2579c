//! Reports of abuse, for admins.

use domain::links::Code;
use domain::{Failure, Result, Timestamp};

use super::{Links, rows};
use store::accounts::Page;
use store::ignore_lost_condition;
use store::row::{Builder, Item, ItemReader, broken, instant, key, number, text};
use store::schema::{EXPIRES, GSI1, GSI1_PK, GSI1_SK};

const ALL_REPORTS: &str = "reports";
const TTL_SECONDS: i64 = 90 * 24 * 3600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbuseReport {
    /// Sorts by time.
    pub id: String,
    /// The link's domain.
    pub domain: String,
    pub code: Code,
    pub reason: String,
    pub details: Option<String>,
    pub at: Timestamp,
}

impl AbuseReport {
    /// The id of a report made at that time.
    pub fn id_at(at: Timestamp, random: u64) -> String {
        format!("{:013}-{random:016x}", at.as_millisecond())
    }
}

impl Links {
    /// Keeps a report for 90 days.
    pub async fn report(&self, report: &AbuseReport) -> Result {
        let row = Builder::keyed(&rows::link_pk(&report.domain, report.code.as_str()), &sk(report))
            .with(GSI1_PK, text(ALL_REPORTS))
            .with(GSI1_SK, text(&report.id))
            .with("domain", text(&report.domain))
            .with("code", text(report.code.as_str()))
            .with("reason", text(&report.reason))
            .with_some("details", report.details.as_ref().map(text))
            .with("reported_at", instant(report.at))
            .with(EXPIRES, number(report.at.as_second() + TTL_SECONDS));
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(row.build()))
            .condition_expression("attribute_not_exists(pk)")
            .send()
            .await;
        ignore_lost_condition("keep the report", sent)
    }

    /// Reports, newest first, older than the one with id `after`.
    pub async fn reports(&self, limit: i32, after: Option<&str>) -> Result<Page<AbuseReport>> {
        // No report has an id beyond this one, so it stands for the start.
        let before = after.unwrap_or("~");
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(GSI1)
            .key_condition_expression("gsi1pk = :all AND gsi1sk < :before")
            .expression_attribute_values(":all", text(ALL_REPORTS))
            .expression_attribute_values(":before", text(before))
            .scan_index_forward(false)
            .limit(limit)
            .send()
            .await
            .map_err(|cause| Failure::new("list the reports", cause))?;
        let items = found.items().iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let more = found.last_evaluated_key().and_then(|_| items.last());
        Ok(Page { next: more.map(|report| report.id.clone()), items })
    }

    /// Takes the report with that id off the list; returns whether there was one. Its row stays until it
    /// expires, so that the same report is not made again.
    pub async fn dismiss_report(&self, id: &str) -> Result<bool> {
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(GSI1)
            .key_condition_expression("gsi1pk = :all AND gsi1sk = :id")
            .expression_attribute_values(":all", text(ALL_REPORTS))
            .expression_attribute_values(":id", text(id))
            .send()
            .await
            .map_err(|cause| Failure::new("find the report", cause))?;
        let Some(report) = found.items().first().map(read).transpose()? else { return Ok(false) };
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(&rows::link_pk(&report.domain, report.code.as_str()), &sk(&report))))
            .update_expression("REMOVE gsi1pk, gsi1sk")
            .condition_expression("attribute_exists(pk)")
            .send()
            .await;
        ignore_lost_condition("dismiss the report", sent)?;
        Ok(true)
    }
}

fn sk(report: &AbuseReport) -> String {
    format!("report#{}", report.id)
}

fn read(item: &Item) -> Result<AbuseReport> {
    let row = ItemReader(item);
    Ok(AbuseReport {
        id: row.text("sk")?.strip_prefix("report#").ok_or_else(|| broken("sk"))?.to_owned(),
        domain: row.text("domain")?.to_owned(),
        code: rows::read_code(row)?,
        reason: row.text("reason")?.to_owned(),
        details: row.maybe_text("details").map(str::to_owned),
        at: row.instant("reported_at")?,
    })
}
