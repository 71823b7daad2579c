//! May it pass? Asked by other programs, and decided by admins: rules, overrides, the firewall.
//!
//! Trigger: HTTP. Effect: a check takes units from every quota that applies, or none; a change is one
//! transaction of a document and of the number that tells nodes to read again. Guarantee: two changes
//! of the same version never both win; a rule reaches every node within 30 seconds and a block within
//! 10. Absent: a change that nodes are not told of, and a row for what comes with the program until
//! someone changes it.

mod check;
pub mod docs;
mod dry_run;
mod firewall;
mod overrides;
mod rules;
mod settings;
mod state;
mod subject;
mod top;
mod usage;
mod view;

use boundary::http::{Access, Api, Builder};
use boundary::{Host, Misconfigured};
use domain::accounts::Role;
use http::Method;

pub use state::State;

/// Five thousand networks in a rule, however they are written.
const FIREWALL_CAP: usize = 512 * 1024;

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api<State>, Misconfigured> {
    const ADMIN: Access = Access::Role(Role::Admin);
    const LIMITER: Access = Access::Role(Role::Limiter);
    const CHECK: &str = "/internal/ratelimit/check";
    const ALL: &str = "/admin/ratelimits";
    const ONE: &str = "/admin/ratelimits/{rule}";
    const OVERRIDES: &str = "/admin/ratelimits/overrides";
    const OVERRIDE: &str = "/admin/ratelimits/overrides/{dimension}/{entity}/{rule}";
    const USAGE: &str = "/admin/ratelimits/usage";
    const TOP: &str = "/admin/ratelimits/top";
    const SETTINGS: &str = "/admin/ratelimits/settings";
    const FIREWALL: &str = "/admin/firewall";
    const BLOCK: &str = "/admin/firewall/{rule}";
    Builder::default()
        .on(Method::POST, CHECK, "checkLimit", LIMITER, |s, r| Box::pin(check::check(s, r)))
        .on(Method::GET, ALL, "listLimits", ADMIN, |s, r| Box::pin(rules::list(s, r)))
        .on(Method::GET, ONE, "readLimit", ADMIN, |s, r| Box::pin(rules::read(s, r)))
        .on(Method::PUT, ONE, "saveLimit", ADMIN, |s, r| Box::pin(rules::save(s, r)))
        .on(Method::DELETE, ONE, "deleteLimit", ADMIN, |s, r| Box::pin(rules::delete(s, r)))
        .on(Method::GET, OVERRIDES, "listOverrides", ADMIN, |s, r| Box::pin(overrides::list(s, r)))
        .on(Method::GET, OVERRIDE, "readOverride", ADMIN, |s, r| Box::pin(overrides::read(s, r)))
        .on(Method::PUT, OVERRIDE, "saveOverride", ADMIN, |s, r| Box::pin(overrides::save(s, r)))
        .on(Method::DELETE, OVERRIDE, "deleteOverride", ADMIN, |s, r| {
            Box::pin(overrides::delete(s, r))
        })
        .on(Method::GET, USAGE, "readUsage", ADMIN, |s, r| Box::pin(usage::read(s, r)))
        .on(Method::GET, TOP, "readTop", ADMIN, |s, r| Box::pin(top::read(s, r)))
        .on(Method::GET, SETTINGS, "readSettings", ADMIN, |s, r| Box::pin(settings::read(s, r)))
        .on(Method::PUT, SETTINGS, "saveSettings", ADMIN, |s, r| Box::pin(settings::save(s, r)))
        .on(Method::GET, FIREWALL, "listFirewall", ADMIN, |s, r| Box::pin(firewall::list(s, r)))
        .on(Method::GET, BLOCK, "readFirewallRule", ADMIN, |s, r| Box::pin(firewall::read(s, r)))
        .on(Method::PUT, BLOCK, "saveFirewallRule", ADMIN, |s, r| Box::pin(firewall::save(s, r)))
        .taking(FIREWALL_CAP)
        .on(Method::DELETE, BLOCK, "deleteFirewallRule", ADMIN, |s, r| {
            Box::pin(firewall::delete(s, r))
        })
        .build(host, State::on(host)?)
}
