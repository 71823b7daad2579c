//! The OpenAPI document and its page, generated from the functions' own routes and types.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use boundary::openapi::{Routed, Section, document};
use boundary::{Aws, Clock, Entropy, Host, Misconfigured};
use serde_json::Value;

use crate::cloud::base_vars;
use crate::connector::Connector;
use crate::faults::Faults;
use crate::functions::vars_of;
use crate::services::Services;

mod page;

pub use page::render;

/// One section for each function that answers HTTP, in reading order.
macro_rules! sections {
    ($host:expr, $($binary:literal => $package:ident $tag:literal),* $(,)?) => {
        vec![$(Section {
            tag: $tag,
            about: $package::docs::ABOUT,
            routed: $package::function(&$host($binary)?)?.operations().iter().map(Routed::from).collect(),
            docs: $package::docs::docs(),
        }),*]
    };
}

/// What every function routes and says, for the stack in `template`.
pub fn sections(template: &Path) -> Result<Vec<Section>, String> {
    let stack =
        template::load(template, &BTreeMap::default()).map_err(|error| error.to_string())?;
    let now: Arc<dyn Fn() -> i64 + Send + Sync> = Arc::new(|| 0);
    let services = Services::open(&stack, None, &now, Some(0))?;
    let client = Connector::client(services, Faults::none(), None);
    let host = |binary: &str| -> Result<Host, Misconfigured> {
        let function = stack.functions.iter().find(|function| function.binary == binary);
        let vars: boundary::Vars = function
            .map_or_else(base_vars, |function| vars_of(function, &base_vars()))
            .into_iter()
            .collect();
        Ok(Host {
            aws: Aws::through(client.clone(), &vars)?,
            vars,
            clock: Clock::new(Default::default),
            entropy: Entropy::new(|_| {}),
            log: boundary::telemetry::Log::new(|_| {}),
            network: crate::internet::closed(),
            carriers: None,
        })
    };
    let sections = || -> Result<Vec<Section>, Misconfigured> {
        Ok(sections!(host,
            "ids" => ids "Ids",
            "shorten" => shorten "Links",
            "jobs" => jobs "Jobs",
            "notify" => notify "Notifications",
            "feed" => feed "Feed",
            "limits" => limits "Limits",
            "accounts" => accounts "Accounts",
            "describe" => describe "Service",
        ))
    };
    let mut sections = sections().map_err(|error| error.to_string())?;
    // A hot path has no table of operations to read this from.
    sections.insert(
        0,
        Section {
            tag: "Redirect",
            about: redirect::docs::ABOUT,
            routed: redirect::docs::routed(),
            docs: redirect::docs::docs(),
        },
    );
    Ok(sections)
}

/// The OpenAPI document.
pub fn openapi(template: &Path) -> Result<Value, String> {
    document(env!("CARGO_PKG_VERSION"), &sections(template)?)
}
