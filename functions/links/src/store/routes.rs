//! What a redirect reads: a link's route, and the day's salt for its visitors' hashes.
//!
//! A route is one eventually consistent read of what a redirect needs and nothing else. A day's salt
//! is that of the first instance to write one: the others take the row that exists.

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use domain::links::route::{Route, RouteVariant};
use domain::{Failure, Result, Timestamp};

use super::Links;
use store::row::{Builder, Item, ItemReader, broken, bytes, key, number};
use store::schema::EXPIRES;

/// The attributes of a link that a redirect needs; `status` is a reserved word.
const ROUTE: &str = "#to, ways, #status, expires_at, max_clicks, fallback, spent_at, \
                     forward_query, deleted_at, blocked_at, block_reason, created_at, warnings, \
                     title, description, image";

/// Salts are of no use once their day is over and its last clicks are counted.
const SALT_KEPT_SECONDS: i64 = 3 * 24 * 3600;

impl Links {
    /// Where `code` leads in the namespace of `domain` (empty for the default one).
    pub async fn route(&self, domain: &str, code: &str) -> Result<Option<Route>> {
        let found = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(key(&format!("link#{domain}#{code}"), "link")))
            .projection_expression(ROUTE)
            .expression_attribute_names("#to", "to")
            .expression_attribute_names("#status", "status")
            .send()
            .await
            .map_err(|cause| Failure::new("read a link", cause))?;
        found.item().map(read).transpose()
    }

    /// The salt of `day` (`2026-03-01`); `fresh` becomes it if there is none yet.
    pub async fn salt(&self, day: &str, fresh: [u8; 32], now: Timestamp) -> Result<[u8; 32]> {
        const ACTION: &str = "read the day's salt";
        let pk = format!("salt#{day}");
        let found = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(key(&pk, "salt")))
            .send()
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        match found.item() {
            Some(item) => salt_of(item),
            None => self.create_salt(&pk, fresh, now).await,
        }
    }

    /// Puts `fresh` if there is none, and returns the salt that is stored then.
    async fn create_salt(&self, pk: &str, fresh: [u8; 32], now: Timestamp) -> Result<[u8; 32]> {
        let row = Builder::keyed(pk, "salt")
            .with("salt", bytes(&fresh))
            .with(EXPIRES, number(now.as_second() + SALT_KEPT_SECONDS))
            .build();
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(row))
            .condition_expression("attribute_not_exists(pk)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match sent {
            Ok(_) => Ok(fresh),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(lost)) => {
                    lost.item().map_or_else(|| Err(broken("salt")), salt_of)
                }
                Some(_) | None => Err(Failure::new("write the day's salt", error)),
            },
        }
    }
}

fn salt_of(item: &Item) -> Result<[u8; 32]> {
    ItemReader(item).bytes("salt")?.try_into().map_err(|_| broken("salt"))
}

fn read(item: &Item) -> Result<Route> {
    let row = ItemReader(item);
    let words = |name: &str| row.maybe_text(name).map(str::to_owned);
    let blocked =
        row.maybe_instant("blocked_at").map(|_| words("block_reason").unwrap_or_default());
    Ok(Route {
        to: row.text("to")?.to_owned(),
        variants: read_variants(item)?,
        status: row.maybe_number("status").unwrap_or(302),
        expires_at: row.maybe_instant("expires_at"),
        max_clicks: row.maybe_number("max_clicks"),
        fallback: words("fallback"),
        spent: row.maybe_instant("spent_at").is_some(),
        forward_query: row.flag("forward_query"),
        deleted: row.maybe_instant("deleted_at").is_some(),
        blocked,
        created_at: row.instant("created_at")?,
        warnings: row.texts("warnings").to_vec(),
        title: words("title"),
        description: words("description"),
        image: words("image"),
    })
}

fn read_variants(item: &Item) -> Result<Vec<RouteVariant>> {
    let Some(ways) = item.get("ways") else { return Ok(Vec::new()) };
    let variants = ways.as_l().map_err(|_| broken("ways"))?;
    variants.iter().map(read_variant).collect()
}

fn read_variant(variant: &AttributeValue) -> Result<RouteVariant> {
    let variant = ItemReader(variant.as_m().map_err(|_| broken("ways"))?);
    Ok(RouteVariant { url: variant.text("u")?.to_owned(), weight: variant.number("w")? })
}
