//! Links and their small rows, as items and back.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::accounts::UserId;
use domain::links::link::Variant;
use domain::links::{Code, Link, LinkBlock, LinkPreview, LinkTerms, Redirect, Tags, Target, Utm};
use domain::{Result, hex};

use store::row::{Builder, Item, ItemReader, broken, instant, key, number, text};
use store::schema::{GSI1_PK, GSI1_SK, GSI2_PK, GSI2_SK};

/// Where the scan finds links that are deleted and not yet purged.
const DELETED: &str = "deleted";

pub(super) fn link_pk(domain: &str, code: &str) -> String {
    format!("link#{domain}#{code}")
}

pub(super) fn clicks_pk(domain: &str, code: &str) -> String {
    format!("clicks#{domain}#{code}")
}

pub(super) fn link_key(domain: &str, code: &Code) -> Item {
    key(&link_pk(domain, code.as_str()), "link")
}

/// The list a link is on: its owner's, or its owner's deleted ones.
pub(super) fn list_of(owner: &UserId, deleted: bool) -> String {
    let list = if deleted { "deleted" } else { "links" };
    format!("{list}#{}", owner.as_str())
}

/// Links are listed by age; domain and code keep two of one millisecond apart.
pub(super) fn list_order(link: &Link) -> String {
    let made = link.created_at.as_millisecond();
    format!("{made:013}#{}#{}", link.domain, link.code.as_str())
}

pub(super) fn url_pk(target: &Target) -> String {
    format!("url#{}", hex(&target.fingerprint()[..16]))
}

pub(super) fn link(link: &Link, token: &str) -> Item {
    let terms = &link.terms;
    let listed = link.owner.as_ref().map(|owner| list_of(owner, link.deleted_at.is_some()));
    let deleted = link.deleted_at;
    let scanned = match deleted {
        None => Some(text(url_pk(&terms.long_url))),
        Some(_) => (!link.is_purged()).then(|| text(DELETED)),
    };
    let utm = terms.utm.parameters();
    let destination = |target: &Target| text(with_utm(target, &utm));
    let variants = terms.variants.iter().map(|variant| {
        AttributeValue::M(
            [
                ("u".to_owned(), destination(&variant.url)),
                ("g".to_owned(), text(variant.url.as_str())),
                ("w".to_owned(), number(variant.weight)),
            ]
            .into(),
        )
    });
    let variants: Vec<_> = variants.collect();
    Builder::keyed(&link_pk(&link.domain, link.code.as_str()), "link")
        .with_some(GSI1_PK, listed.as_ref().map(text))
        .with_some(GSI1_SK, listed.as_ref().map(|_| text(list_order(link))))
        .with_some(GSI2_SK, scanned.as_ref().map(|_| text(list_order(link))))
        .with_some(GSI2_PK, scanned)
        .with("domain", text(&link.domain))
        .with("code", text(link.code.as_str()))
        .with_some("owner", link.owner.as_ref().map(|owner| text(owner.as_str())))
        .with("long_url", text(terms.long_url.as_str()))
        .with("to", destination(&terms.long_url))
        .with_some("ways", (!variants.is_empty()).then_some(AttributeValue::L(variants)))
        .with("status", number(terms.redirect.status()))
        .with_some("expires_at", terms.expires_at.map(instant))
        .with_some("max_clicks", terms.max_clicks.map(number))
        .with_some("fallback", terms.fallback.as_ref().map(|target| text(target.as_str())))
        .with("forward_query", AttributeValue::Bool(terms.forward_query))
        .with_some("utm", utm_map(&terms.utm))
        .with_some("tags", texts(terms.tags.as_slice()))
        .with_some("note", terms.note.as_ref().map(text))
        .with("haystack", text(search_text(link)))
        .with_some("warnings", texts(&link.warnings))
        .with_some("title", link.preview.title.as_ref().map(text))
        .with_some("description", link.preview.description.as_ref().map(text))
        .with_some("image", link.preview.image.as_ref().map(text))
        .with_some("scanned_at", link.scanned_at.map(instant))
        .with("created_at", instant(link.created_at))
        .with("updated_at", instant(link.updated_at))
        .with_some("deleted_at", deleted.map(instant))
        .with_some("blocked_at", link.blocked.as_ref().map(|block| instant(block.at)))
        .with_some("block_reason", link.blocked.as_ref().map(|block| text(&block.reason)))
        .with_some("spent_at", link.spent_at.map(instant))
        .with("v", number(link.version))
        .with("made_by", text(token))
        .build()
}

pub(super) fn read_link(item: &Item) -> Result<Link> {
    let row = ItemReader(item);
    let maybe_target = |name| row.maybe_text(name).map(Target::stored);
    let block = row.maybe_instant("blocked_at").map(|at| LinkBlock {
        at,
        reason: row.maybe_text("block_reason").unwrap_or_default().to_owned(),
    });
    let owned = |name| row.maybe_text(name).map(str::to_owned);
    Ok(Link {
        domain: row.text("domain")?.to_owned(),
        code: read_code(row)?,
        owner: row.maybe_text("owner").map(UserId::outside),
        terms: LinkTerms {
            long_url: maybe_target("long_url").ok_or_else(|| broken("long_url"))?,
            variants: read_variants(item)?,
            redirect: Redirect::from_status(row.number("status")?)
                .ok_or_else(|| broken("status"))?,
            expires_at: row.maybe_instant("expires_at"),
            max_clicks: row.maybe_number("max_clicks"),
            fallback: maybe_target("fallback"),
            forward_query: row.flag("forward_query"),
            utm: read_utm(item)?,
            tags: Tags::stored(row.texts("tags").to_vec()),
            note: owned("note"),
        },
        warnings: sorted(row.texts("warnings")),
        preview: LinkPreview {
            title: owned("title"),
            description: owned("description"),
            image: owned("image"),
        },
        scanned_at: row.maybe_instant("scanned_at"),
        created_at: row.instant("created_at")?,
        updated_at: row.instant("updated_at")?,
        deleted_at: row.maybe_instant("deleted_at"),
        blocked: block,
        spent_at: row.maybe_instant("spent_at"),
        version: row.number("v")?,
    })
}

pub(super) fn read_code(row: ItemReader<'_>) -> Result<Code> {
    Code::parse(row.text("code")?).ok_or_else(|| broken("code"))
}

pub(super) fn dedup(key: &str, link: &Link) -> Item {
    Builder::keyed(&format!("same#{key}"), "same")
        .with("code", text(link.code.as_str()))
        .with("domain", text(&link.domain))
        .build()
}

fn with_utm(target: &Target, utm: &[(String, String)]) -> String {
    if utm.is_empty() {
        return target.as_str().to_owned();
    }
    let pairs: Vec<(&str, &str)> = utm.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    target.with_parameters(&pairs).as_str().to_owned()
}

fn utm_map(utm: &Utm) -> Option<AttributeValue> {
    let map = utm.iter().map(|(name, value)| (name.to_owned(), text(value))).collect();
    (!utm.is_empty()).then_some(AttributeValue::M(map))
}

fn read_utm(item: &Item) -> Result<Utm> {
    let map = item.get("utm").and_then(|value| value.as_m().ok());
    let pairs = map
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| value.as_s().ok().map(|value| (name.clone(), value.clone())));
    Utm::new(pairs).map_err(|_| broken("utm"))
}

fn read_variants(item: &Item) -> Result<Vec<Variant>> {
    let list = item.get("ways").and_then(|value| value.as_l().ok());
    list.into_iter()
        .flatten()
        .map(|value| {
            let variant = ItemReader(value.as_m().map_err(|_| broken("ways"))?);
            Ok(Variant { url: Target::stored(variant.text("g")?), weight: variant.number("w")? })
        })
        .collect()
}

fn texts(texts: &[String]) -> Option<AttributeValue> {
    (!texts.is_empty()).then(|| AttributeValue::Ss(texts.to_vec()))
}

fn sorted(texts: &[String]) -> Vec<String> {
    let mut texts = texts.to_vec();
    texts.sort_unstable();
    texts
}

/// What `q` searches: everything a person might remember of a link, in lower case.
fn search_text(link: &Link) -> String {
    let terms = &link.terms;
    let note = terms.note.as_deref().unwrap_or_default();
    let (code, url) = (link.code.as_str(), terms.long_url.as_str());
    format!("{code} {url} {note}").to_lowercase()
}
