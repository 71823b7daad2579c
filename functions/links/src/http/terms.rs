//! From the bodies of requests to a link's terms.

use std::collections::BTreeMap;

use domain::Timestamp;
use domain::accounts::NewValue as Change;
use domain::links::link::Variant;
use domain::links::{LinkTerms, Redirect, Tags, Utm};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use boundary::http::{Problem, Result};

use crate::http::request::Request;
use crate::http::state::App;

/// A link to create.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewLink {
    /// Where it leads: http or https, public, at most 2,048 characters.
    pub(crate) long_url: String,
    /// 3 to 50 of letters, digits, `-` and `_`; a code is generated if left out.
    #[schemars(length(min = 3, max = 50))]
    pub(crate) custom_alias: Option<String>,
    /// A domain of yours that is verified; the service's own if left out.
    pub(crate) domain: Option<String>,
    /// When it stops (RFC 3339).
    #[schemars(with = "Option<String>")]
    pub(crate) expires_at: Option<Timestamp>,
    /// After how many clicks it stops. Counting lags a few seconds, so a few more may get through.
    #[schemars(range(min = 1))]
    pub(crate) max_clicks: Option<u64>,
    /// Where it leads once its clicks are used up; 410 if left out.
    pub(crate) fallback_url: Option<String>,
    /// 302 (usual), 301 or 307.
    pub(crate) redirect: Option<u16>,
    /// Two to ten destinations by weight; a visitor stays with theirs for a day.
    #[serde(default)]
    pub(crate) variants: Vec<VariantView>,
    /// Up to 10 labels.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// Up to 500 characters that only you see.
    #[schemars(length(max = 500))]
    pub(crate) note: Option<String>,
    /// Whether a visitor's query goes on to the destination.
    #[serde(default)]
    pub(crate) forward_query: bool,
    /// Campaign parameters: source, medium, campaign, term, content.
    #[serde(default)]
    pub(crate) utm: BTreeMap<String, String>,
    /// `false` creates another link even if you have an equal one.
    pub(crate) reuse: Option<bool>,
}

/// One of several destinations.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantView {
    /// Where it leads.
    pub(crate) url: String,
    /// Its share in relation to the others', 1 to 1,000.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) weight: u32,
}

/// A change to a link; what is left out stays, null takes away.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LinkPatch {
    /// A new destination.
    #[serde(default, deserialize_with = "not_null")]
    long_url: Option<String>,
    /// A new time to stop, or null for never.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    expires_at: Option<Change<Timestamp>>,
    /// A new number of clicks, or null for any number.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<u64>")]
    max_clicks: Option<Change<u64>>,
    /// A new fallback, or null for none.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    fallback_url: Option<Change<String>>,
    /// 302, 301 or 307.
    #[serde(default, deserialize_with = "not_null")]
    redirect: Option<u16>,
    /// New destinations by weight; an empty list goes back to `longUrl`.
    #[serde(default, deserialize_with = "not_null")]
    variants: Option<Vec<VariantView>>,
    /// The new set of labels.
    #[serde(default, deserialize_with = "not_null")]
    tags: Option<Vec<String>>,
    /// A new note, or null for none.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    note: Option<Change<String>>,
    /// Whether a visitor's query goes on to the destination.
    #[serde(default, deserialize_with = "not_null")]
    forward_query: Option<bool>,
    /// The new campaign parameters.
    #[serde(default, deserialize_with = "not_null")]
    utm: Option<BTreeMap<String, String>>,
}

/// Refuses `null` for a field that can't be removed.
fn not_null<'de, T, D>(reader: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(reader).map(Some)
}

/// Tells `null` (remove it) from absence (keep it).
fn nullable<'de, T, D>(reader: D) -> Result<Option<Change<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(reader).map(|value| Some(value.map_or(Change::Forget, Change::To)))
}

impl App {
    /// The terms of a new link.
    pub(crate) fn terms(&self, new: &NewLink, request: &Request) -> Result<LinkTerms> {
        let fallback = new.fallback_url.as_deref();
        let terms = LinkTerms {
            long_url: self.target("longUrl", &new.long_url, request)?,
            variants: self.variants(&new.variants, request)?,
            redirect: redirect(new.redirect)?,
            expires_at: new.expires_at.map(to_the_millisecond),
            max_clicks: new.max_clicks,
            fallback: fallback.map(|url| self.target("fallbackUrl", url, request)).transpose()?,
            forward_query: new.forward_query,
            utm: Utm::new(new.utm.clone())?,
            tags: Tags::new(&new.tags)?,
            note: new.note.clone().filter(|note| !note.is_empty()),
        };
        terms.check(request.now)?;
        Ok(terms)
    }

    /// The terms after a change.
    pub(crate) fn apply_patch(
        &self,
        terms: &LinkTerms,
        patch: LinkPatch,
        request: &Request,
    ) -> Result<LinkTerms> {
        let mut next = terms.clone();
        if let Some(url) = &patch.long_url {
            next.long_url = self.target("longUrl", url, request)?;
        }
        if let Some(variants) = &patch.variants {
            next.variants = self.variants(variants, request)?;
        }
        match &patch.fallback_url {
            None => {}
            Some(Change::Forget) => next.fallback = None,
            Some(Change::To(url)) => {
                next.fallback = Some(self.target("fallbackUrl", url, request)?);
            }
        }
        if patch.redirect.is_some() {
            next.redirect = redirect(patch.redirect)?;
        }
        if let Some(utm) = patch.utm {
            next.utm = Utm::new(utm)?;
        }
        if let Some(tags) = &patch.tags {
            next.tags = Tags::new(tags)?;
        }
        next.max_clicks = changed(patch.max_clicks, next.max_clicks);
        next.note = changed(patch.note, next.note).filter(|note| !note.is_empty());
        next.forward_query = patch.forward_query.unwrap_or(next.forward_query);
        // A link that ended by its time keeps that time unless it is given another.
        let checked = match patch.expires_at {
            None => LinkTerms { expires_at: None, ..next.clone() },
            Some(change) => {
                next.expires_at = changed(Some(change), None).map(to_the_millisecond);
                next.clone()
            }
        };
        checked.check(request.now)?;
        Ok(next)
    }

    fn variants(&self, variants: &[VariantView], request: &Request) -> Result<Vec<Variant>> {
        variants
            .iter()
            .map(|variant| {
                let url = self.target("variants.url", &variant.url, request)?;
                Ok(Variant { url, weight: variant.weight })
            })
            .collect()
    }
}

/// The value after a change; `before` if there is none.
fn changed<T>(change: Option<Change<T>>, before: Option<T>) -> Option<T> {
    match change {
        None => before,
        Some(Change::Forget) => None,
        Some(Change::To(value)) => Some(value),
    }
}

fn redirect(status: Option<u16>) -> Result<Redirect> {
    let Some(status) = status else { return Ok(Redirect::default()) };
    Redirect::from_status(status).ok_or_else(|| Problem::field("redirect", "302, 301 or 307"))
}

/// Rows keep milliseconds; the answer to a creation must equal what is read back.
fn to_the_millisecond(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}
