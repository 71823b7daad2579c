//! Reports of posts: one for each post and person, on a list while nobody has decided.

use domain::accounts::UserId;
use domain::feed::{PostId, Report};
use domain::{Failure, Timestamp};

use super::wire::{Change, Stretch};
use super::{Feed, rows};
use store::row::{Item, Row, broken, key, text};
use store::schema::{GSI1, GSI1_PK, GSI1_SK, PK, SK};

/// The list of open reports, on the first index.
const OPEN: &str = "reports";

/// What came of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reported {
    /// It is on the list.
    Reported,
    /// They have reported it before; this is what stands.
    Before(Report),
}

/// Some open reports, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenReports {
    pub reports: Vec<Report>,
    /// Where the next look begins, if there may be more.
    pub next: Option<String>,
}

impl Feed {
    /// Writes a report, unless the same person has reported the post before.
    pub async fn report(&self, report: &Report) -> Result<Reported, Failure> {
        const ACTION: &str = "write the report";
        let mut item = rows::plain(report)?;
        item.extend(report_key(report.post, &report.by));
        item.insert(GSI1_PK.to_owned(), text(OPEN));
        item.insert(GSI1_SK.to_owned(), text(place(report)));
        if self.write_new(item, ACTION).await? {
            return Ok(Reported::Reported);
        }
        let found = self.get(report_key(report.post, &report.by), ACTION).await?;
        let stands: Report = rows::read(&found.ok_or_else(|| broken(PK))?)?;
        // Whoever finds the very report has written it, and was not told.
        Ok(if stands == *report { Reported::Reported } else { Reported::Before(stands) })
    }

    /// Open reports, oldest first, after the place where the last look stopped. The list may lag behind:
    /// what was decided meanwhile is left out.
    pub async fn open_reports(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<OpenReports, Failure> {
        let stretch = Stretch {
            index: Some(GSI1),
            condition: "gsi1pk = :open AND gsi1sk > :after",
            values: vec![(":open", text(OPEN)), (":after", text(after.unwrap_or(" ")))],
            limit: Some(limit),
            ..Stretch::default()
        };
        let listed = self.query(stretch, "list open reports").await?;
        let next = listed.last().filter(|_| listed.len() >= limit);
        let next = next.map(|item| Row(item).text(GSI1_SK).map(str::to_owned)).transpose()?;
        let own_key = |item: &Item| -> Result<Item, Failure> {
            Ok(key(Row(item).text(PK)?, Row(item).text(SK)?))
        };
        let keys = listed.iter().map(own_key).collect::<Result<Vec<_>, _>>()?;
        let found = self.get_all(keys, "read open reports").await?;
        let mut reports = found.iter().map(rows::read).collect::<Result<Vec<Report>, _>>()?;
        reports.retain(|report| report.ruling.is_none());
        reports.sort_by_key(place);
        Ok(OpenReports { reports, next })
    }

    /// Everything that was said against a post, up to date.
    pub async fn reports_of(&self, post: PostId) -> Result<Vec<Report>, Failure> {
        let stretch = Stretch {
            condition: "pk = :post",
            values: vec![(":post", text(rows::reports_pk(post)))],
            ..Stretch::default()
        };
        let found = self.query(stretch, "read what was said against a post").await?;
        found.iter().map(rows::read).collect()
    }

    /// Writes down what was decided; `false` if something was decided before. It leaves the list.
    pub async fn rule(&self, ruled: &Report) -> Result<bool, Failure> {
        let ruling = rows::plain(ruled)?.remove("ruling").ok_or_else(|| broken("ruling"))?;
        let change = Change::of(
            report_key(ruled.post, &ruled.by),
            "SET ruling = :ruling REMOVE gsi1pk, gsi1sk",
        )
        .given("attribute_exists(pk) AND attribute_not_exists(ruling)")
        .with(":ruling", ruling);
        Ok(self.change(change, "rule on a report").await?.is_some())
    }
}

fn report_key(post: PostId, by: &UserId) -> Item {
    key(&rows::reports_pk(post), by.as_str())
}

/// By time; the rest tells reports of the same moment apart.
fn place(report: &Report) -> String {
    let at: Timestamp = report.created_at;
    format!("{:014}#{}#{}", at.as_millisecond(), report.post, report.by.as_str())
}
