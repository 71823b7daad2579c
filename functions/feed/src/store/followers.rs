//! Who follows whom, page by page.

use domain::Result;
use domain::accounts::UserId;
use domain::feed::fan_out::{FollowerPage, follower_key};

use super::requests::RangeQuery;
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, text};
use store::schema::SK;

impl FeedStore {
    /// The followers of one page of a fan-out, up to date.
    pub async fn followers_of_page(
        &self,
        author: &UserId,
        page: &FollowerPage,
        limit: usize,
    ) -> Result<Vec<UserId>> {
        let (after, until) = page.keys();
        self.followers_between(author, &after, &until, limit).await
    }

    /// Followers of an author, after one of them, in a stable order.
    pub async fn followers(
        &self,
        author: &UserId,
        after: Option<&UserId>,
        limit: usize,
    ) -> Result<Vec<UserId>> {
        let after = after.map_or_else(|| "0".to_owned(), follower_key);
        self.followers_between(author, &after, "g", limit).await
    }

    /// Whom a reader follows, after one of them, by id.
    pub async fn following(
        &self,
        reader: &UserId,
        after: Option<&UserId>,
        limit: Option<usize>,
    ) -> Result<Vec<UserId>> {
        let range = RangeQuery {
            condition: "pk = :reader AND sk > :after",
            values: vec![
                (":reader", text(rows::following_pk(reader))),
                (":after", text(after.map_or(" ", UserId::as_str))),
            ],
            limit,
            ..RangeQuery::default()
        };
        let found = self.query(range, "list whom a reader follows").await?;
        found.iter().map(|item| ItemReader(item).text(SK).map(UserId::outside)).collect()
    }

    async fn followers_between(
        &self,
        author: &UserId,
        after: &str,
        until: &str,
        limit: usize,
    ) -> Result<Vec<UserId>> {
        let range = RangeQuery {
            condition: "pk = :author AND sk BETWEEN :after AND :until",
            values: vec![
                (":author", text(rows::followers_pk(author))),
                // Nothing lies between a key and the same with the least character behind it.
                (":after", text(format!("{after}\u{1}"))),
                (":until", text(until)),
            ],
            limit: Some(limit),
            ..RangeQuery::default()
        };
        let found = self.query(range, "list followers").await?;
        let who = |item: &Item| ItemReader(item).text("who").map(UserId::outside);
        found.iter().map(who).collect()
    }
}
