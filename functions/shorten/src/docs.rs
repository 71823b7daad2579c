//! The sentences about this function in the OpenAPI document.

use boundary::openapi::{Doc, shape};

use crate::analytics::{AnalyticsView, Period};
use crate::create::{Bulk, BulkView};
use crate::domains::{DomainView, DomainsView, NewDomain};
use crate::manage::ListQuery;
use crate::moderation::{EntriesView, EntryView, NewBlock, NewEntry, NewReport, ReportView};
use crate::qr::Options;
use crate::terms::{LinkPatch, NewLink};
use crate::transfer::{ExportQuery, ImportQuery, ImportView};
use crate::view::{DomainQuery, LinkDetails, LinkView, PageQuery, PageView};

/// What the section is about.
pub const ABOUT: &str = "Short links: make, edit, list, analyse, draw, move in and out, report.";

const CODE: (&str, &str) = ("code", "The link's code or alias.");
const DOMAIN: (&str, &str) = ("domain", "The domain.");
const VERSION: (&str, &str, bool) = ("If-Match", "The `ETag` of the version you read.", true);
const ONCE: (&str, &str, bool) = (
    "Idempotency-Key",
    "A repeat with the same key and body within 24 hours gets the first answer.",
    false,
);

/// One entry an operation.
pub fn docs() -> Vec<Doc> {
    let mut docs = links();
    docs.extend(domains());
    docs.extend(transfer());
    docs.extend(moderation());
    docs
}

fn links() -> Vec<Doc> {
    vec![
        Doc {
            description: "Works without a key, up to 100 links a day and address. With a key, the \
                          same destination again answers 200 with the link you have, unless \
                          `reuse` is false.",
            headers: &[ONCE],
            body: Some(shape::<NewLink>()),
            status: 201,
            answer: Some(shape::<LinkView>()),
            problems: &[403, 404, 409, 429],
            ..Doc::new("shortenUrl", "Shorten a URL")
        },
        Doc {
            description: "Up to 1,000, each answered on its own: some may fail and others not.",
            body: Some(shape::<Bulk>()),
            answer: Some(shape::<BulkView>()),
            problems: &[429],
            ..Doc::new("shortenUrls", "Shorten many URLs")
        },
        Doc {
            path: &[CODE],
            query: Some(shape::<DomainQuery>()),
            answer: Some(shape::<LinkDetails>()),
            problems: &[404],
            ..Doc::new("readLink", "Read a link")
        },
        Doc {
            description: "Seen by every visitor within five seconds.",
            path: &[CODE],
            query: Some(shape::<DomainQuery>()),
            headers: &[VERSION],
            body: Some(shape::<LinkPatch>()),
            answer: Some(shape::<LinkView>()),
            problems: &[403, 404, 409, 412, 428],
            ..Doc::new("amendLink", "Change a link")
        },
        Doc {
            description: "It answers 404 within five seconds and can be restored for 30 days.",
            path: &[CODE],
            query: Some(shape::<DomainQuery>()),
            status: 204,
            problems: &[404, 409],
            ..Doc::new("deleteLink", "Delete a link")
        },
        Doc {
            path: &[CODE],
            query: Some(shape::<DomainQuery>()),
            answer: Some(shape::<LinkView>()),
            problems: &[404, 409],
            ..Doc::new("restoreLink", "Undo a deletion")
        },
        Doc {
            description: "Newest first. A new link may take a moment to appear. With a filter, a \
                          page may be short and still have a next one.",
            query: Some(shape::<ListQuery>()),
            answer: Some(shape::<PageView<LinkView>>()),
            ..Doc::new("listLinks", "List your links")
        },
        Doc {
            description: "People, robots and preview crawlers are told apart; the breakdowns are \
                          of people. Counting lags a few seconds.",
            path: &[CODE],
            query: Some(shape::<Period>()),
            answer: Some(shape::<AnalyticsView>()),
            problems: &[404],
            ..Doc::new("readAnalytics", "Analyse a link")
        },
        Doc {
            description: "`abc.png` or `abc.svg`; cacheable for a day.",
            path: &[("file", "The link's code, a dot, and `png` or `svg`.")],
            query: Some(shape::<Options>()),
            media: &["image/png", "image/svg+xml"],
            problems: &[404],
            ..Doc::new("drawQr", "Draw a QR code")
        },
    ]
}

fn domains() -> Vec<Doc> {
    vec![
        Doc {
            description: "Publish the TXT record of the answer, then verify. Claiming again answers \
                          with the claim that stands.",
            body: Some(shape::<NewDomain>()),
            status: 201,
            answer: Some(shape::<DomainView>()),
            ..Doc::new("claimDomain", "Claim a domain")
        },
        Doc {
            answer: Some(shape::<DomainsView>()),
            ..Doc::new("listDomains", "List your domains")
        },
        Doc {
            path: &[DOMAIN],
            answer: Some(shape::<DomainView>()),
            problems: &[404],
            ..Doc::new("readDomain", "Read a domain")
        },
        Doc {
            description: "Looks for the TXT record. Whoever proves a domain first has it.",
            path: &[DOMAIN],
            answer: Some(shape::<DomainView>()),
            problems: &[404, 409],
            ..Doc::new("verifyDomain", "Verify a domain")
        },
        Doc {
            description: "Only once no link of yours lives on it.",
            path: &[DOMAIN],
            status: 204,
            problems: &[404, 409],
            ..Doc::new("releaseDomain", "Give a domain up")
        },
    ]
}

fn transfer() -> Vec<Doc> {
    vec![
        Doc {
            description: "Up to 1,000 rows of another shortener's export, or of ours. Codes are \
                          kept. Importing the same file again changes nothing.",
            query: Some(shape::<ImportQuery>()),
            body: Some(shape::<String>()),
            body_media: "text/csv",
            answer: Some(shape::<ImportView>()),
            problems: &[429],
            ..Doc::new("importLinks", "Import links")
        },
        Doc {
            description: "CSV, 1,000 rows at a time; the header `next-cursor` leads to the rest.",
            query: Some(shape::<ExportQuery>()),
            media: &["text/csv"],
            ..Doc::new("exportLinks", "Export your links")
        },
    ]
}

fn moderation() -> Vec<Doc> {
    vec![
        Doc {
            description: "Works without a key.",
            path: &[CODE],
            query: Some(shape::<DomainQuery>()),
            body: Some(shape::<NewReport>()),
            status: 202,
            problems: &[404, 429],
            ..Doc::new("reportLink", "Report abuse")
        },
        Doc {
            description: "Newest first, for 90 days.",
            query: Some(shape::<PageQuery>()),
            answer: Some(shape::<PageView<ReportView>>()),
            ..Doc::new("listReports", "List reports")
        },
        Doc {
            path: &[("reportId", "The report.")],
            status: 204,
            problems: &[404],
            ..Doc::new("dismissReport", "Dismiss a report")
        },
        Doc {
            description: "It answers 451 within five seconds.",
            path: &[CODE],
            query: Some(shape::<DomainQuery>()),
            body: Some(shape::<NewBlock>()),
            answer: Some(shape::<LinkView>()),
            problems: &[404, 409],
            ..Doc::new("blockLink", "Block a link")
        },
        Doc {
            path: &[CODE],
            query: Some(shape::<DomainQuery>()),
            answer: Some(shape::<LinkView>()),
            problems: &[404, 409],
            ..Doc::new("unblockLink", "Unblock a link")
        },
        Doc {
            answer: Some(shape::<EntriesView>()),
            ..Doc::new("listBlocked", "List blocked destinations")
        },
        Doc {
            description: "New links to it are refused within a minute; the scan blocks those that \
                          are there.",
            body: Some(shape::<NewEntry>()),
            status: 201,
            answer: Some(shape::<EntryView>()),
            ..Doc::new("blockDestination", "Block a destination")
        },
        Doc {
            path: &[("entry", "The entry, like `host:evil.example`.")],
            status: 204,
            ..Doc::new("unblockDestination", "Unblock a destination")
        },
    ]
}
