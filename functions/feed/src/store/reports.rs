//! Reports of posts: one for each post and person, on a list until an admin decides.

use domain::accounts::UserId;
use domain::feed::{PostId, PostReport};
use domain::{Result, Timestamp};

use super::requests::{RangeQuery, RowUpdate};
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, broken, key, text};
use store::schema::{GSI1, GSI1_PK, GSI1_SK, PK, SK};

/// The list of open reports, on the first index.
const OPEN: &str = "reports";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportOutcome {
    Created,
    /// They have reported it before; this is what stands.
    Existing(PostReport),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenReports {
    pub reports: Vec<PostReport>,
    /// Where the next look begins, if there may be more.
    pub next: Option<String>,
}

impl FeedStore {
    /// Writes a report, unless the same person has reported the post before.
    pub async fn report(&self, report: &PostReport) -> Result<ReportOutcome> {
        const ACTION: &str = "write the report";
        let mut item = rows::to_item(report)?;
        item.extend(report_key(report.post, &report.reporter));
        item.insert(GSI1_PK.to_owned(), text(OPEN));
        item.insert(GSI1_SK.to_owned(), text(place(report)));
        if self.insert(item, ACTION).await? {
            return Ok(ReportOutcome::Created);
        }
        let found = self.get(report_key(report.post, &report.reporter), ACTION).await?;
        let stands: PostReport = rows::from_item(&found.ok_or_else(|| broken(PK))?)?;
        // The same report is from an earlier try whose response was lost.
        Ok(if stands == *report { ReportOutcome::Created } else { ReportOutcome::Existing(stands) })
    }

    /// Open reports, oldest first, after the place where the last look stopped. The list may lag behind:
    /// what was decided meanwhile is left out.
    pub async fn open_reports(&self, after: Option<&str>, limit: usize) -> Result<OpenReports> {
        let range = RangeQuery {
            index: Some(GSI1),
            condition: "gsi1pk = :open AND gsi1sk > :after",
            values: vec![(":open", text(OPEN)), (":after", text(after.unwrap_or(" ")))],
            limit: Some(limit),
            ..RangeQuery::default()
        };
        let listed = self.query(range, "list open reports").await?;
        let next = listed.last().filter(|_| listed.len() >= limit);
        let next =
            next.map(|item| ItemReader(item).text(GSI1_SK).map(str::to_owned)).transpose()?;
        let own_key = |item: &Item| -> Result<Item> {
            Ok(key(ItemReader(item).text(PK)?, ItemReader(item).text(SK)?))
        };
        let keys = listed.iter().map(own_key).collect::<Result<Vec<_>, _>>()?;
        let found = self.get_all(keys, "read open reports").await?;
        let mut reports =
            found.iter().map(rows::from_item).collect::<Result<Vec<PostReport>, _>>()?;
        reports.retain(|report| report.ruling.is_none());
        reports.sort_by_key(place);
        Ok(OpenReports { reports, next })
    }

    /// All reports of a post, up to date.
    pub async fn reports_of(&self, post: PostId) -> Result<Vec<PostReport>> {
        let range = RangeQuery {
            condition: "pk = :post",
            values: vec![(":post", text(rows::reports_pk(post)))],
            ..RangeQuery::default()
        };
        let found = self.query(range, "read a post's reports").await?;
        found.iter().map(rows::from_item).collect()
    }

    /// Writes down what was decided; `false` if something was decided before. It leaves the list.
    pub async fn rule(&self, ruled: &PostReport) -> Result<bool> {
        let ruling = rows::to_item(ruled)?.remove("ruling").ok_or_else(|| broken("ruling"))?;
        let update = RowUpdate::new(
            report_key(ruled.post, &ruled.reporter),
            "SET ruling = :ruling REMOVE gsi1pk, gsi1sk",
        )
        .condition("attribute_exists(pk) AND attribute_not_exists(ruling)")
        .value(":ruling", ruling);
        Ok(self.update(update, "rule on a report").await?.is_some())
    }
}

fn report_key(post: PostId, by: &UserId) -> Item {
    key(&rows::reports_pk(post), by.as_str())
}

/// By time; the rest tells reports of the same moment apart.
fn place(report: &PostReport) -> String {
    let at: Timestamp = report.created_at;
    format!("{:014}#{}#{}", at.as_millisecond(), report.post, report.reporter.as_str())
}
