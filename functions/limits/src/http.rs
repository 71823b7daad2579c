//! May it pass? Asked by other programs, and decided by admins: rules, overrides, the firewall.
//!
//! Trigger: HTTP. Effect: a check takes units from every quota that applies, or none; a change is one
//! transaction of a document and of the number that tells nodes to read again. Guarantee: two changes
//! of the same version never both win; a rule reaches every node within 30 seconds and a block within
//! 10. Absent: a change that nodes are not told of, and a row for what comes with the program until
//! an admin changes it.

mod caller;
mod check;
mod dry_run;
mod firewall;
mod overrides;
mod rules;
mod saved;
mod settings;
mod state;
mod top;
mod usage;
mod view;

use boundary::http::{Api, Operations, Result, Segment};
use boundary::{Host, Misconfigured};

use crate::http::state::App;

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api, Misconfigured> {
    Api::new(host, App::from_host(host)?, operations)
}

/// What it answers.
pub fn operations(to: &mut impl Operations<App>) {
    to.on(check::CHECK, check::check);
    to.on(rules::LIST, rules::list);
    to.on(rules::READ, rules::read);
    to.on(rules::SAVE, rules::save);
    to.on(rules::DELETE, rules::delete);
    to.on(overrides::LIST, overrides::list);
    to.on(overrides::READ, overrides::read);
    to.on(overrides::SAVE, overrides::save);
    to.on(overrides::DELETE, overrides::delete);
    to.on(usage::READ, usage::read);
    to.on(top::READ, top::read);
    to.on(settings::READ, settings::read);
    to.on(settings::SAVE, settings::save);
    to.on(firewall::LIST, firewall::list);
    to.on(firewall::READ, firewall::read);
    to.on(firewall::SAVE, firewall::save);
    to.on(firewall::DELETE, firewall::delete);
}

/// The path names a rule, whether of a limit or of the firewall. What name a rule may have is
/// checked where one is saved.
pub(crate) struct RulePath;

impl Segment for RulePath {
    type Value = String;
    const NAME: &'static str = "rule";
    const MEANING: &'static str = "The rule: 1 to 64 of a-z, 0-9 and -, a letter first.";

    fn parse(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }
}
