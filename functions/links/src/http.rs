//! The API of short links, except for following them: create, amend, list, analyse, draw, import and
//! export, report.
//!
//! Trigger: HTTP. Effect: one conditional write a link, and one for every thousand codes. Guarantee:
//! a code or alias has one owner, also if several callers ask at the same time; a repeated request
//! makes one link; a destination that is private, malformed or blocked is refused; another user's
//! links, domains and reports are not found.

mod analytics;
mod blocklist;
mod bulk;
mod create;
mod destination_check;
mod domains;
mod link_ref;
mod manage;
mod moderation;
pub mod qr;
mod qr_image;
mod request;
mod state;
mod terms;
mod transfer;
mod view;

use boundary::http::{Api, Operations, Problem, Result, Segment};
use boundary::{Host, Misconfigured};
use domain::links::{Code, DomainName};

use crate::http::state::App;

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api, Misconfigured> {
    Api::new(host, App::from_host(host)?, operations)
}

/// What it answers.
pub fn operations(to: &mut impl Operations<App>) {
    to.on(create::SHORTEN, create::shorten);
    to.on(bulk::SHORTEN_ALL, bulk::shorten_all);
    to.on(manage::READ, manage::read);
    to.on(manage::AMEND, manage::amend);
    to.on(manage::DELETE, manage::delete);
    to.on(manage::RESTORE, manage::restore);
    to.on(manage::LIST, manage::list);
    to.on(analytics::READ, analytics::read);
    to.on(qr_image::DRAW, qr_image::draw);
    to.on(domains::CLAIM, domains::claim);
    to.on(domains::LIST, domains::list);
    to.on(domains::READ, domains::read);
    to.on(domains::RELEASE, domains::release);
    to.on(domains::VERIFY, domains::verify);
    to.on(transfer::IMPORT, transfer::import);
    to.on(transfer::EXPORT, transfer::export);
    to.on(moderation::REPORT, moderation::report);
    to.on(moderation::REPORTS, moderation::reports);
    to.on(moderation::DISMISS, moderation::dismiss);
    to.on(moderation::BLOCK, moderation::block);
    to.on(moderation::UNBLOCK, moderation::unblock);
    to.on(blocklist::LIST, blocklist::list);
    to.on(blocklist::BLOCK, blocklist::block);
    to.on(blocklist::UNBLOCK, blocklist::unblock);
}

/// A thousand links with long destinations fit; Lambda takes 6 MB.
const BULK_CAP: usize = 4 * 1024 * 1024;

/// The path names a link.
pub(crate) struct CodePath;

impl Segment for CodePath {
    type Value = Code;
    const NAME: &'static str = "code";
    const MEANING: &'static str = "The link's code or alias.";

    fn parse(text: &str) -> Result<Code> {
        Code::parse(text).ok_or_else(|| Problem::unknown("link"))
    }
}

/// The path names a picture; the style is checked before the name is.
pub(crate) struct FilePath;

impl Segment for FilePath {
    type Value = String;
    const NAME: &'static str = "file";
    const MEANING: &'static str = "The link's code, a dot, and `png` or `svg`.";

    fn parse(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }
}

/// The path names a custom domain.
pub(crate) struct DomainPath;

impl Segment for DomainPath {
    type Value = DomainName;
    const NAME: &'static str = "domain";
    const MEANING: &'static str = "The domain.";

    fn parse(text: &str) -> Result<DomainName> {
        DomainName::parse(text).map_err(|_| Problem::unknown("verified domain of yours"))
    }
}

/// The path names a report, by any text: an unknown one is not found.
pub(crate) struct ReportPath;

impl Segment for ReportPath {
    type Value = String;
    const NAME: &'static str = "reportId";
    const MEANING: &'static str = "The report.";

    fn parse(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }
}

/// The path names an entry of the blocklist, by any text: removing an unknown one succeeds.
pub(crate) struct EntryPath;

impl Segment for EntryPath {
    type Value = String;
    const NAME: &'static str = "entry";
    const MEANING: &'static str = "The entry, like `host:evil.example`.";

    fn parse(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }
}
