//! Short links, except for following them: make, edit, list, analyse, draw, move in and out, report.
//!
//! Trigger: HTTP. Effect: one conditional write a link, and one for every thousand codes. Guarantee:
//! a code or alias has one owner whoever asks at the same time; a repeated request makes one link; a
//! destination that is private, malformed or blocked never gets in; what is not the caller's is not
//! found.

mod analytics;
mod create;
pub mod docs;
mod domains;
mod images;
mod manage;
mod moderation;
pub mod qr;
mod state;
mod terms;
mod transfer;
mod vetting;
mod view;

use boundary::http::{Access, Api, Builder};
use boundary::{Host, Misconfigured};
use domain::accounts::Role;
use http::Method;

pub use state::State;

/// A thousand links with long destinations fit; Lambda takes 6 MB.
const BULK_CAP: usize = 4 * 1024 * 1024;

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api<State>, Misconfigured> {
    const ADMIN: Access = Access::Role(Role::Admin);
    const MEMBER: Access = Access::Role(Role::Member);
    const ANYONE: Access = Access::Optional(Role::Member);
    const ONE: &str = "/api/v1/url/{code}";
    const DOMAIN: &str = "/api/v1/domains/{domain}";
    const BLOCKLIST: &str = "/api/v1/blocklist";
    Builder::default()
        .on(Method::POST, "/api/v1/shorten", "shortenUrl", ANYONE, |s, r| {
            Box::pin(create::one(s, r))
        })
        .metered()
        .on(Method::POST, "/api/v1/bulk/shorten", "shortenUrls", MEMBER, |s, r| {
            Box::pin(create::many(s, r))
        })
        .taking(BULK_CAP)
        .metered()
        .on(Method::GET, ONE, "readLink", MEMBER, |s, r| Box::pin(manage::read(s, r)))
        .on(Method::PATCH, ONE, "amendLink", MEMBER, |s, r| Box::pin(manage::amend(s, r)))
        .on(Method::DELETE, ONE, "deleteLink", MEMBER, |s, r| Box::pin(manage::delete(s, r)))
        .on(Method::POST, "/api/v1/url/{code}/restore", "restoreLink", MEMBER, |s, r| {
            Box::pin(manage::restore(s, r))
        })
        .on(Method::GET, "/api/v1/urls", "listLinks", MEMBER, |s, r| Box::pin(manage::list(s, r)))
        .on(Method::GET, "/api/v1/url/{code}/analytics", "readAnalytics", MEMBER, |s, r| {
            Box::pin(analytics::read(s, r))
        })
        .on(Method::GET, "/qr/{file}", "drawQr", Access::Public, |s, r| {
            Box::pin(images::draw(s, r))
        })
        .on(Method::POST, "/api/v1/domains", "claimDomain", MEMBER, |s, r| {
            Box::pin(domains::claim(s, r))
        })
        .on(Method::GET, "/api/v1/domains", "listDomains", MEMBER, |s, r| {
            Box::pin(domains::list(s, r))
        })
        .on(Method::GET, DOMAIN, "readDomain", MEMBER, |s, r| Box::pin(domains::read(s, r)))
        .on(Method::DELETE, DOMAIN, "releaseDomain", MEMBER, |s, r| {
            Box::pin(domains::release(s, r))
        })
        .on(Method::POST, "/api/v1/domains/{domain}/verify", "verifyDomain", MEMBER, |s, r| {
            Box::pin(domains::verify(s, r))
        })
        .on(Method::POST, "/api/v1/import", "importLinks", MEMBER, |s, r| {
            Box::pin(transfer::import(s, r))
        })
        .taking(BULK_CAP)
        .metered()
        .on(Method::GET, "/api/v1/export", "exportLinks", MEMBER, |s, r| {
            Box::pin(transfer::export(s, r))
        })
        .on(Method::POST, "/api/v1/url/{code}/report", "reportLink", ANYONE, |s, r| {
            Box::pin(moderation::report(s, r))
        })
        .metered()
        .on(Method::GET, "/api/v1/reports", "listReports", ADMIN, |s, r| {
            Box::pin(moderation::reports(s, r))
        })
        .on(Method::DELETE, "/api/v1/reports/{reportId}", "dismissReport", ADMIN, |s, r| {
            Box::pin(moderation::dismiss(s, r))
        })
        .on(Method::POST, "/api/v1/url/{code}/block", "blockLink", ADMIN, |s, r| {
            Box::pin(moderation::block(s, r))
        })
        .on(Method::POST, "/api/v1/url/{code}/unblock", "unblockLink", ADMIN, |s, r| {
            Box::pin(moderation::unblock(s, r))
        })
        .on(Method::GET, BLOCKLIST, "listBlocked", ADMIN, |s, r| {
            Box::pin(moderation::blocklist(s, r))
        })
        .on(Method::POST, BLOCKLIST, "blockDestination", ADMIN, |s, r| {
            Box::pin(moderation::block_destination(s, r))
        })
        .on(Method::DELETE, "/api/v1/blocklist/{entry}", "unblockDestination", ADMIN, |s, r| {
            Box::pin(moderation::unblock_destination(s, r))
        })
        .build(host, State::on(host)?)
}
