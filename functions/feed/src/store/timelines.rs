//! Timelines: references under names that follow from the post, so a repeat changes nothing.

use domain::accounts::UserId;
use domain::feed::{PostId, PostReference};
use domain::{Result, Timestamp};

use super::batch_write::BatchWrite;
use super::requests::RangeQuery;
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, broken, instant, key, text};
use store::schema::SK;

impl FeedStore {
    /// The newest references of a reader below a place, and when each arrived, up to date.
    pub async fn timeline(
        &self,
        reader: &UserId,
        below: PostId,
        limit: usize,
    ) -> Result<Vec<(PostReference, Timestamp)>> {
        let range = RangeQuery {
            condition: "pk = :timeline AND sk < :below",
            values: vec![
                (":timeline", text(rows::timeline_pk(reader))),
                (":below", text(below.text())),
            ],
            descending: true,
            limit: Some(limit),
            ..RangeQuery::default()
        };
        self.query(range, "read the timeline").await?.iter().map(read).collect()
    }

    pub async fn add_references(
        &self,
        references: impl IntoIterator<Item = (UserId, PostReference)>,
        now: Timestamp,
    ) -> Result {
        let written = references.into_iter().map(|(reader, reference)| {
            let mut item = key(&rows::timeline_pk(&reader), &reference.post_id.text());
            item.insert("author".to_owned(), text(reference.author.as_str()));
            item.insert("at".to_owned(), instant(now));
            BatchWrite::Put(item)
        });
        self.write_all(written, "write to timelines").await
    }

    pub async fn remove_references(
        &self,
        references: impl IntoIterator<Item = (UserId, PostId)>,
    ) -> Result {
        let gone = references.into_iter().map(|(reader, post)| {
            BatchWrite::Delete(key(&rows::timeline_pk(&reader), &post.text()))
        });
        self.write_all(gone, "take references out of timelines").await
    }
}

fn read(item: &Item) -> Result<(PostReference, Timestamp)> {
    let row = ItemReader(item);
    let post_id = PostId::parse(row.text(SK)?).ok_or_else(|| broken(SK))?;
    let author = UserId::outside(row.text("author")?);
    Ok((PostReference { post_id, author }, row.instant("at")?))
}
