//! The owner's links, newest first.

use domain::accounts::UserId;
use domain::links::Link;
use domain::{Failure, Result};

use super::{Links, rows};
use store::accounts::Page;
use store::row::{Item, ItemReader, key, text};
use store::schema::{GSI1, GSI1_PK, GSI1_SK};

/// Pages read for one answer at most: a filter that matches little must not read everything.
const MAX_PAGES: usize = 10;

/// Rows read at once with a filter.
const FILTERED_PAGE: i32 = 200;

/// One of a user's two lists of links.
#[derive(Debug, Clone, Copy)]
pub struct OwnerList<'a> {
    pub owner: &'a UserId,
    /// The deleted ones instead of the live ones.
    pub deleted: bool,
}

/// All that is set must match.
#[derive(Debug, Clone, Default)]
pub struct LinkFilter {
    pub tag: Option<String>,
    /// This text in its code, destination or note.
    pub text: Option<String>,
    pub domain: Option<String>,
}

impl Links {
    /// Up to `limit` links after the position `after`, newest first. A page may be short, or even
    /// empty, and still have a next one: a filter is applied to what was read.
    pub async fn list(
        &self,
        list: OwnerList<'_>,
        filter: &LinkFilter,
        limit: usize,
        after: Option<&str>,
    ) -> Result<Page<Link>> {
        let list = rows::list_of(list.owner, list.deleted);
        let mut start = after.and_then(|position| start_key(&list, position));
        let mut items: Vec<Link> = Vec::new();
        for _ in 0..MAX_PAGES {
            let (found, next) = self.list_page(&list, filter, limit - items.len(), start).await?;
            items.extend(found);
            start = next;
            if start.is_none() || items.len() >= limit {
                break;
            }
        }
        let next = start.and_then(|key| ItemReader(&key).maybe_text(GSI1_SK).map(str::to_owned));
        Ok(Page { items, next })
    }

    async fn list_page(
        &self,
        list: &str,
        filter: &LinkFilter,
        room: usize,
        start: Option<Item>,
    ) -> Result<(Vec<Link>, Option<Item>)> {
        let mut request = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(GSI1)
            .key_condition_expression("gsi1pk = :list")
            .expression_attribute_values(":list", text(list))
            .set_exclusive_start_key(start)
            .scan_index_forward(false);
        let clauses = [
            ("contains(tags, :tag)", ":tag", &filter.tag),
            ("contains(haystack, :text)", ":text", &filter.text),
            ("#domain = :domain", ":domain", &filter.domain),
        ];
        let mut conditions = Vec::new();
        for (clause, name, value) in clauses {
            if let Some(value) = value {
                conditions.push(clause);
                request = request.expression_attribute_values(name, text(value));
            }
        }
        if filter.domain.is_some() {
            request = request.expression_attribute_names("#domain", "domain");
        }
        let filtered = !conditions.is_empty();
        if filtered {
            request = request.filter_expression(conditions.join(" AND "));
        }
        // Without a filter every row that is read is shown; with one, most may not be.
        let plain = i32::try_from(room).unwrap_or(FILTERED_PAGE);
        let found = request
            .limit(if filtered { FILTERED_PAGE } else { plain })
            .send()
            .await
            .map_err(|cause| Failure::new("list the links", cause))?;
        let read = found.items().iter().map(rows::read_link).collect::<Result<Vec<_>, _>>()?;
        if read.len() > room {
            let links: Vec<Link> = read.into_iter().take(room).collect();
            let next = links.last().and_then(|link| start_key(list, &rows::list_order(link)));
            return Ok((links, next));
        }
        Ok((read, found.last_evaluated_key().cloned()))
    }
}

/// The key to go on from, made of a position like `0001700000000000##abc`; `None` if it is no such.
fn start_key(list: &str, position: &str) -> Option<Item> {
    let mut parts = position.splitn(3, '#');
    let (_, domain, code) = (parts.next()?, parts.next()?, parts.next()?);
    let mut start = key(&rows::link_pk(domain, code), "link");
    start.insert(GSI1_PK.to_owned(), text(list));
    start.insert(GSI1_SK.to_owned(), text(position));
    Some(start)
}
