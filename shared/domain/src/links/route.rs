//! The part of a link that a redirect reads, and the decision what to answer.
//!
//! Guarantee: [`decide`] follows from its arguments alone, and asks in this order: is the link
//! blocked, deleted, expired, used up? Blocked comes first, because neither deleting a link nor
//! letting it run out may hide that it was taken down. Absent: any trust in `spent` for the exact
//! click on which a limit is met; clicks are counted later, and the row is marked then.

use std::borrow::Cow;

use jiff::Timestamp;

use super::target::Target;

/// The part of a link that a redirect reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Where it leads.
    pub to: String,
    /// Where it leads instead, by weight, if it is an A/B test.
    pub variants: Vec<RouteVariant>,
    /// 301, 302 or 307.
    pub status: u16,
    /// From when on it leads nowhere.
    pub expires_at: Option<Timestamp>,
    /// After how many clicks it is used up.
    pub max_clicks: Option<u64>,
    /// Where it leads once it is used up.
    pub fallback: Option<String>,
    /// Whether its clicks were found to be used up.
    pub spent: bool,
    /// Whether a visitor's query goes along.
    pub forward_query: bool,
    /// Whether its owner deleted it.
    pub deleted: bool,
    /// Why it was taken down, if it was.
    pub blocked: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Names of what makes its destination suspicious.
    pub warnings: Vec<String>,
    /// What its destination calls itself.
    pub title: Option<String>,
    /// What its destination says about itself.
    pub description: Option<String>,
    /// The picture its destination shows of itself.
    pub image: Option<String>,
}

/// One of several destinations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteVariant {
    /// Where it leads.
    pub url: String,
    /// Its share of the visitors, relative to the others'.
    pub weight: u32,
}

/// What a visitor is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision<'a> {
    Redirect {
        location: Cow<'a, str>,
        /// 301, 302 or 307.
        status: u16,
        /// The index of the chosen variant, if there are several.
        variant: Option<u8>,
    },
    /// The link is used up, and leads here now; not for ever, so never with a 301.
    Fallback { location: &'a str },
    /// Expired, or used up without a fallback.
    Gone,
    /// Taken down, for this reason.
    Blocked(&'a str),
    /// Deleted, which a visitor can't tell from a link that never was.
    NotFound,
}

/// What a visitor who brings `query` is answered at `now`. `hash`, a [`stable_hash`], chooses between
/// several variants.
pub fn decide<'a>(route: &'a Route, hash: u64, query: &str, now: Timestamp) -> Decision<'a> {
    if let Some(reason) = &route.blocked {
        return Decision::Blocked(reason);
    }
    if route.deleted {
        return Decision::NotFound;
    }
    if route.expires_at.is_some_and(|end| now >= end) {
        return Decision::Gone;
    }
    if route.spent {
        let fallback = route.fallback.as_deref();
        return fallback.map_or(Decision::Gone, |location| Decision::Fallback { location });
    }
    let (url, variant) = match choose_variant(&route.variants, hash) {
        Some((chosen, index)) => (chosen.url.as_str(), Some(index)),
        None => (route.to.as_str(), None),
    };
    let location = if route.forward_query && !query.is_empty() {
        Cow::Owned(Target::stored(url).with_query(query))
    } else {
        Cow::Borrowed(url)
    };
    Decision::Redirect { location, status: route.status, variant }
}

/// A visitor's hash for one link: the same all day, and unrelated to their hash for any other link.
pub fn stable_hash(code: &str, visitor: u64) -> u64 {
    let folded = code.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    splitmix64(folded ^ splitmix64(visitor))
}

/// The variant whose share of all weights the hash falls into; none if all weights are zero.
fn choose_variant(variants: &[RouteVariant], hash: u64) -> Option<(&RouteVariant, u8)> {
    let total: u64 = variants.iter().map(|variant| u64::from(variant.weight)).sum();
    let mut left = hash.checked_rem(total)?;
    for (variant, index) in variants.iter().zip(0_u8..) {
        let weight = u64::from(variant.weight);
        if left < weight {
            return Some((variant, index));
        }
        left -= weight;
    }
    None
}

/// Every bit of the answer depends on every bit of `value` (the finish of `SplitMix64`).
const fn splitmix64(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests;
