//! The sentences about this function in the OpenAPI document.

use boundary::openapi::{Doc, shape};

use crate::check::{CheckBody, CheckView};
use crate::firewall::{FirewallBody, FirewallView, FirewallsView};
use crate::overrides::{OverrideBody, OverrideView, OverridesQuery, OverridesView};
use crate::rules::{RulesQuery, RulesView, SaveQuery, SavedView};
use crate::settings::SettingsBody;
use crate::top::{TopQuery, TopView};
use crate::usage::{UsageQuery, UsageView};
use crate::view::{RuleBody, RuleView};

/// What the section is about.
pub const ABOUT: &str = "May it pass? Rate limits and the firewall.";

const RULE: (&str, &str) = ("rule", "The rule: 1 to 64 of a-z, 0-9 and -, a letter first.");
const DIMENSION: (&str, &str) = ("dimension", "`user`, `apiKey`, `ip`, `tenant` or `global`.");
const ENTITY: (&str, &str) = (
    "entity",
    "Which one; of `ip` an address, which in IPv6 stands for its /64; of `global` `all`.",
);
const IF_MATCH: (&str, &str, bool) =
    ("If-Match", "The `ETag` of the version you read; any version if left out.", false);

/// One entry an operation.
pub fn docs() -> Vec<Doc> {
    let mut docs = vec![Doc {
        description: "Takes the units from every quota that applies, or none. 429 has the same body as \
                      200, and `Retry-After`; a 429 that is a problem is about your own quota for \
                      checks, which an admin lifts in the settings. If a rule that is closed on failure \
                      can't be checked: 503.",
        body: Some(shape::<CheckBody>()),
        answer: Some(shape::<CheckView>()),
        problems: &[429, 503],
        ..Doc::new("checkLimit", "May it pass?")
    }];
    docs.extend(rules());
    docs.extend(overrides());
    docs.extend(numbers());
    docs.extend(settings());
    docs.extend(firewall());
    docs
}

fn rules() -> Vec<Doc> {
    vec![
        Doc {
            query: Some(shape::<RulesQuery>()),
            answer: Some(shape::<RulesView>()),
            ..Doc::new("listLimits", "List rules")
        },
        Doc {
            path: &[RULE],
            answer: Some(shape::<RuleView>()),
            problems: &[404],
            ..Doc::new("readLimit", "Read a rule")
        },
        Doc {
            description: "It holds everywhere within 30 seconds. 201 if there was none. With `dryRun` \
                          nothing changes and the answer is what the rule would have denied in the \
                          last hour: of the keys that nodes reported, which are the heaviest, and \
                          without those that are exempt or have an override. For `anonymousOnly` an \
                          address counts with all it asked, known callers included.",
            path: &[RULE],
            query: Some(shape::<SaveQuery>()),
            headers: &[IF_MATCH],
            body: Some(shape::<RuleBody>()),
            answer: Some(shape::<SavedView>()),
            problems: &[412],
            ..Doc::new("saveLimit", "Make or replace a rule")
        },
        Doc {
            description: "Also one that comes with the program; save it to have it back. Its overrides \
                          stay, and do nothing without it.",
            path: &[RULE],
            headers: &[IF_MATCH],
            status: 204,
            problems: &[404, 412],
            ..Doc::new("deleteLimit", "Delete a rule")
        },
    ]
}

fn overrides() -> Vec<Doc> {
    const PLACE: &[(&str, &str)] = &[DIMENSION, ENTITY, RULE];
    vec![
        Doc {
            description: "Without those that have expired.",
            query: Some(shape::<OverridesQuery>()),
            answer: Some(shape::<OverridesView>()),
            ..Doc::new("listOverrides", "List overrides")
        },
        Doc {
            path: PLACE,
            answer: Some(shape::<OverrideView>()),
            problems: &[404, 422],
            ..Doc::new("readOverride", "Read an override")
        },
        Doc {
            description: "Another limit of a rule for one entity. 201 if there was none.",
            path: PLACE,
            headers: &[IF_MATCH],
            body: Some(shape::<OverrideBody>()),
            answer: Some(shape::<OverrideView>()),
            problems: &[404, 412],
            ..Doc::new("saveOverride", "Make or replace an override")
        },
        Doc {
            path: PLACE,
            headers: &[IF_MATCH],
            status: 204,
            problems: &[404, 412, 422],
            ..Doc::new("deleteOverride", "Delete an override")
        },
    ]
}

fn numbers() -> Vec<Doc> {
    vec![
        Doc {
            description: "From the shared counters, which know what was debited: spent, or still held \
                          by nodes.",
            query: Some(shape::<UsageQuery>()),
            answer: Some(shape::<UsageView>()),
            ..Doc::new("readUsage", "How does a caller stand?")
        },
        Doc {
            description: "In the last hour, as far as nodes have reported it: they do about once a \
                          minute, and name the heaviest.",
            query: Some(shape::<TopQuery>()),
            answer: Some(shape::<TopView>()),
            ..Doc::new("readTop", "Who and what is denied most?")
        },
    ]
}

fn settings() -> Vec<Doc> {
    vec![
        Doc {
            answer: Some(shape::<SettingsBody>()),
            ..Doc::new("readSettings", "Read the settings")
        },
        Doc {
            headers: &[IF_MATCH],
            body: Some(shape::<SettingsBody>()),
            answer: Some(shape::<SettingsBody>()),
            problems: &[412],
            ..Doc::new("saveSettings", "Replace the settings")
        },
    ]
}

fn firewall() -> Vec<Doc> {
    vec![
        Doc {
            description: "Without those that have expired.",
            answer: Some(shape::<FirewallsView>()),
            ..Doc::new("listFirewall", "List firewall rules")
        },
        Doc {
            path: &[RULE],
            answer: Some(shape::<FirewallView>()),
            problems: &[404],
            ..Doc::new("readFirewallRule", "Read a firewall rule")
        },
        Doc {
            description: "It holds everywhere within 10 seconds, for you too. 201 if there was none. \
                          Names that begin with `auto-` are for nodes.",
            path: &[RULE],
            headers: &[IF_MATCH],
            body: Some(shape::<FirewallBody>()),
            answer: Some(shape::<FirewallView>()),
            problems: &[412],
            ..Doc::new("saveFirewallRule", "Make or replace a firewall rule")
        },
        Doc {
            description: "Also one that a node made.",
            path: &[RULE],
            headers: &[IF_MATCH],
            status: 204,
            problems: &[404, 412],
            ..Doc::new("deleteFirewallRule", "Delete a firewall rule")
        },
    ]
}
