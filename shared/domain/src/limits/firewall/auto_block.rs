//! Which addresses are refused so often that they are blocked for a while.
//!
//! An address's window begins with a denial and lasts as long as the settings say; the next denial
//! after that begins a new one. An address that is reported was refused that often within one
//! window; one that is refused twice as often is reported for certain.
//!
//! Guarantee: one report for each block, and never more than 4,096 addresses in memory.
//! A clock that goes back begins windows anew, and a block that was reported lasts until the clock
//! reaches its end again, as the rule's own end does. Absent: counts of other nodes.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{FirewallAction, FirewallRule, IpNetwork};
use crate::Timestamp;

/// How many addresses are watched at once.
const MAX_ADDRESSES: usize = 4_096;

/// When an address is blocked without being asked, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct AutoBlock {
    /// As many denials block the address; 0 blocks none.
    pub denials: u32,
    /// Within as many seconds.
    pub within_seconds: u32,
    /// For as many seconds.
    pub block_seconds: u32,
}

impl Default for AutoBlock {
    fn default() -> Self {
        Self { denials: 100, within_seconds: 60, block_seconds: 600 }
    }
}

impl AutoBlock {
    /// The settings if they make sense; otherwise the field that doesn't and what it must be like.
    pub fn checked(self) -> Result<Self, (String, String)> {
        for (field, value, least, most) in [
            ("denials", self.denials, 0, 1_000_000),
            ("withinSeconds", self.within_seconds, 1, 3_600),
            ("blockSeconds", self.block_seconds, 1, 604_800),
        ] {
            if !(least..=most).contains(&value) {
                return Err((field.to_owned(), format!("must be {least} to {most}")));
            }
        }
        Ok(self)
    }
}

/// An address has been refused too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offender {
    pub ip: IpAddr,
    pub denials: u32,
    /// When the first of these denials was.
    pub since_ms: i64,
}

#[derive(Debug, Clone, Default)]
pub struct DenialTracker {
    settings: AutoBlock,
    windows: BTreeMap<IpAddr, Window>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    since_ms: i64,
    denials: u32,
    blocked_until_ms: i64,
}

impl DenialTracker {
    pub fn new(settings: AutoBlock) -> Self {
        Self { settings, windows: BTreeMap::new() }
    }

    /// Goes on with other settings; what has been counted stays.
    pub fn set_thresholds(&mut self, settings: AutoBlock) {
        self.settings = settings;
    }

    /// Counts a denial. An address of IPv6 is given as the /64 it is in. Says when the address is to
    /// be blocked, and then nothing more about it until the block ends.
    pub fn record_denial(&mut self, ip: IpAddr, now_ms: i64) -> Option<Offender> {
        if self.settings.denials == 0 {
            return None;
        }
        let ip = ip.to_canonical();
        if self.windows.len() >= MAX_ADDRESSES && !self.windows.contains_key(&ip) {
            self.make_room(now_ms);
        }
        let (within_ms, block_ms) =
            (milliseconds(self.settings.within_seconds), milliseconds(self.settings.block_seconds));
        let fresh = Window { since_ms: now_ms, denials: 0, blocked_until_ms: i64::MIN };
        let window = self.windows.entry(ip).or_insert(fresh);
        if now_ms < window.blocked_until_ms {
            return None;
        }
        if window.denials == 0 || !window.is_open(within_ms, now_ms) {
            *window = fresh;
        }
        window.denials = window.denials.saturating_add(1);
        if window.denials < self.settings.denials {
            return None;
        }
        let offence = Offender { ip, denials: window.denials, since_ms: window.since_ms };
        *window = Window { blocked_until_ms: now_ms.saturating_add(block_ms), ..fresh };
        Some(offence)
    }

    /// Forgets windows that are over; if that frees less than a quarter, the oldest quarter too, so
    /// that the next thousand newcomers cost nothing.
    fn make_room(&mut self, now_ms: i64) {
        let within_ms = milliseconds(self.settings.within_seconds);
        self.windows.retain(|_, window| {
            now_ms < window.blocked_until_ms || window.is_open(within_ms, now_ms)
        });
        let quarter = MAX_ADDRESSES / 4;
        if self.windows.len() <= MAX_ADDRESSES - quarter {
            return;
        }
        let age =
            |(ip, window): (&IpAddr, &Window)| (window.since_ms.max(window.blocked_until_ms), *ip);
        let mut by_age: Vec<_> = self.windows.iter().map(age).collect();
        by_age.sort_unstable();
        for (_, ip) in by_age.iter().take(quarter) {
            self.windows.remove(ip);
        }
    }
}

impl Window {
    fn is_open(&self, within_ms: i64, now_ms: i64) -> bool {
        now_ms >= self.since_ms && now_ms.saturating_sub(self.since_ms) < within_ms
    }
}

/// The rule that blocks an address, of IPv6 its /64. The same address always has the same id, so
/// nodes that notice together write one rule.
pub fn auto_block_rule(ip: IpAddr, settings: AutoBlock, now_ms: i64) -> FirewallRule {
    let (id, fixed) = match ip.to_canonical() {
        IpAddr::V4(v4) => (format!("auto-{}", v4.to_string().replace('.', "-")), 32),
        IpAddr::V6(v6) => (format!("auto-{:016x}", v6.to_bits() >> 64), 64),
    };
    let AutoBlock { denials, within_seconds, block_seconds } = settings;
    let ends_ms = now_ms.saturating_add(milliseconds(block_seconds));
    FirewallRule {
        cidrs: vec![IpNetwork::containing(ip.to_canonical(), fixed)],
        reason: format!(
            "Refused {denials} times within {within_seconds} s: blocked for {block_seconds} s."
        ),
        expires_at: Some(Timestamp::from_millisecond(ends_ms).unwrap_or(Timestamp::MAX)),
        // A later block of the same address replaces an earlier one, so its version is larger.
        version: u64::try_from(now_ms).unwrap_or_default(),
        automatic: true,
        ..FirewallRule::new(id, FirewallAction::Deny)
    }
}

fn milliseconds(seconds: u32) -> i64 {
    i64::from(seconds) * 1_000
}

#[cfg(test)]
mod tests;
