//! What a redirect knows of a link, and what it answers.
//!
//! Guarantee: [`decide`] follows from its arguments alone, and asks in this order: is the link
//! blocked, deleted, expired, used up? Blocked comes first, because neither deleting a link nor
//! letting it run out may hide that it was taken down. Absent: any trust in `spent` for the exact
//! click on which a limit is met; clicks are counted later, and the row is marked then.

use std::borrow::Cow;

use jiff::Timestamp;

use super::target::Target;

/// What a redirect knows of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Where it leads.
    pub to: String,
    /// Where it leads instead, by weight, if it is a test of several pages.
    pub ways: Vec<Way>,
    /// 301, 302 or 307.
    pub status: u16,
    /// From when on it leads nowhere.
    pub expires_at: Option<Timestamp>,
    /// After how many clicks it is used up.
    pub max_clicks: Option<u64>,
    /// Where it leads once it is used up.
    pub fallback: Option<String>,
    /// Whether it was found to be used up.
    pub spent: bool,
    /// Whether a visitor's query goes along.
    pub forward_query: bool,
    /// Whether its owner deleted it.
    pub deleted: bool,
    /// Why it was taken down, if it was.
    pub blocked: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// What a person might want to look at twice, by name.
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
pub struct Way {
    /// Where it leads.
    pub url: String,
    /// Its share of the visitors, relative to the others'.
    pub weight: u32,
}

/// What a visitor is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision<'a> {
    /// On to the destination.
    Go {
        location: Cow<'a, str>,
        /// 301, 302 or 307.
        status: u16,
        /// Which of several ways was chosen, if there are several.
        variant: Option<u8>,
    },
    /// The link is used up, and leads here now; not for ever, so never with a 301.
    Fallback { location: &'a str },
    /// It led somewhere, and does not any more.
    Gone,
    /// It was taken down, for this reason.
    Blocked(&'a str),
    /// There is no such link, as far as a visitor is concerned.
    Missing,
}

/// What a visitor who brings `query` is answered at `now`. `lot` decides between several ways; see
/// [`lot`].
pub fn decide<'a>(route: &'a Route, lot: u64, query: &str, now: Timestamp) -> Decision<'a> {
    if let Some(reason) = &route.blocked {
        return Decision::Blocked(reason);
    }
    if route.deleted {
        return Decision::Missing;
    }
    if route.expires_at.is_some_and(|end| now >= end) {
        return Decision::Gone;
    }
    if route.spent {
        let fallback = route.fallback.as_deref();
        return fallback.map_or(Decision::Gone, |location| Decision::Fallback { location });
    }
    let (url, variant) = match choose(&route.ways, lot) {
        Some((way, variant)) => (way.url.as_str(), Some(variant)),
        None => (route.to.as_str(), None),
    };
    let location = if route.forward_query && !query.is_empty() {
        Cow::Owned(Target::stored(url).with_query(query))
    } else {
        Cow::Borrowed(url)
    };
    Decision::Go { location, status: route.status, variant }
}

/// A visitor's lot for one link: the same all day, and unlike their lot for any other link.
pub fn lot(code: &str, visitor: u64) -> u64 {
    let folded = code.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mixed(folded ^ mixed(visitor))
}

/// The way whose share of all weights the lot falls into. Weights of nothing but zero choose none.
fn choose(ways: &[Way], lot: u64) -> Option<(&Way, u8)> {
    let total: u64 = ways.iter().map(|way| u64::from(way.weight)).sum();
    let mut left = lot.checked_rem(total)?;
    for (way, index) in ways.iter().zip(0_u8..) {
        let weight = u64::from(way.weight);
        if left < weight {
            return Some((way, index));
        }
        left -= weight;
    }
    None
}

/// Every bit of the answer depends on every bit of `value` (the finish of `SplitMix64`).
const fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests;
