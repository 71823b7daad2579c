//! The scan through all links, by destination, and where it stopped.

use domain::links::{Link, LinkPreview};
use domain::{Failure, Result, Timestamp};

use super::{Links, rows};
use store::ignore_lost_condition;
use store::row::{Item, ItemReader, key, number, text};
use store::schema::{GSI2, GSI2_PK, GSI2_SK, PK, SK};

/// A link with its key in the index by destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedLink {
    pub link: Link,
    /// Links with an equal one lead to the same place and come one after the other.
    pub destination: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanPage {
    pub links: Vec<ScannedLink>,
    /// Where the next page begins; `None` after the last.
    pub next: Option<String>,
}

impl Links {
    /// Where the scan goes on, and the version of that row.
    pub async fn scan_position(&self) -> Result<(Option<String>, u64)> {
        let found = self.get(key("sweep", "cursor"), "read where the scan stopped").await?;
        let Some(item) = found.as_ref() else { return Ok((None, 0)) };
        let row = ItemReader(item);
        let position = row.maybe_text("stopped_at").filter(|text| !text.is_empty());
        Ok((position.map(str::to_owned), row.number("v")?))
    }

    /// Saves where the scan stopped, unless another run has saved its position since.
    pub async fn save_scan_position(&self, position: Option<&str>, version: u64) -> Result {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key("sweep", "cursor")))
            .update_expression("SET stopped_at = :position, v = :next")
            .condition_expression("attribute_not_exists(pk) OR v = :before")
            .expression_attribute_values(":position", text(position.unwrap_or_default()))
            .expression_attribute_values(":next", number(version + 1))
            .expression_attribute_values(":before", number(version))
            .send()
            .await;
        ignore_lost_condition("note where the scan stopped", sent)
    }

    /// Saves a destination's preview, if the link is still the version that was inspected.
    pub async fn save_preview(&self, link: &Link) -> Result {
        let LinkPreview { title, description, image } = &link.preview;
        let scanned_ms = link.scanned_at.map_or(0, Timestamp::as_millisecond);
        let parts = [("title", title), ("description", description), ("image", image)];
        let mut request = self.client.update_item().table_name(&self.table);
        let (mut kept, mut dropped) = (vec!["scanned_at = :at".to_owned()], Vec::new());
        for (name, value) in parts {
            match value {
                Some(value) => {
                    kept.push(format!("{name} = :{name}"));
                    request = request.expression_attribute_values(format!(":{name}"), text(value));
                }
                None => dropped.push(name),
            }
        }
        let mut expression = format!("SET {}", kept.join(", "));
        if !dropped.is_empty() {
            expression = format!("{expression} REMOVE {}", dropped.join(", "));
        }
        let sent = request
            .set_key(Some(rows::link_key(&link.domain, &link.code)))
            .update_expression(expression)
            .condition_expression("v = :version")
            .expression_attribute_values(":version", number(link.version))
            .expression_attribute_values(":at", number(scanned_ms))
            .send()
            .await;
        ignore_lost_condition("note a preview", sent)
    }

    /// The next links by destination, from that position.
    pub async fn scan_page(&self, from: Option<&str>, limit: i32) -> Result<ScanPage> {
        let found = self
            .client
            .scan()
            .table_name(&self.table)
            .index_name(GSI2)
            .set_exclusive_start_key(from.and_then(start_key))
            .limit(limit)
            .send()
            .await
            .map_err(|cause| Failure::new("scan the links", cause))?;
        let links = found.items().iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(ScanPage { links, next: found.last_evaluated_key().and_then(position_of) })
    }
}

fn read(item: &Item) -> Result<ScannedLink> {
    Ok(ScannedLink {
        link: rows::read_link(item)?,
        destination: ItemReader(item).text(GSI2_PK)?.to_owned(),
    })
}

/// A position is the four parts of the key; none of them holds a line break.
fn position_of(key: &Item) -> Option<String> {
    let parts = [PK, SK, GSI2_PK, GSI2_SK].into_iter().map(|name| ItemReader(key).maybe_text(name));
    Some(parts.collect::<Option<Vec<_>>>()?.join("\n"))
}

fn start_key(position: &str) -> Option<Item> {
    let mut parts = position.split('\n');
    let mut start = key(parts.next()?, parts.next()?);
    start.insert(GSI2_PK.to_owned(), text(parts.next()?));
    start.insert(GSI2_SK.to_owned(), text(parts.next()?));
    Some(start)
}
