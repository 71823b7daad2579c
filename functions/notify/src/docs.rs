//! The sentences about this function in the OpenAPI document.

use boundary::openapi::{Doc, shape};

use crate::accept::AcceptedView;
use crate::body::NewNotification;
use crate::callbacks::{HeardView, SaidShape};
use crate::dead::{LettersQuery, LettersView, ReplayBody, ReplayView};
use crate::log::{LogQuery, LogView, ReadBody, ReadView};
use crate::people::{ContactsBody, ContactsView, PreferencesBody, PreferencesView};
use crate::preview::{PreviewBody, PreviewView};
use crate::shapes::DraftShape;
use crate::templates::{PublishedView, TemplateQuery, TemplateView};
use crate::unsubscribe::{LinkQuery, OneClick};
use crate::view::NotificationView;

/// What the section is about.
pub const ABOUT: &str = "People are told once, by the ways they want, when they want it.";

const NOTIFICATION: (&str, &str) = ("notificationId", "The notification.");
const USER: (&str, &str) = ("userId", "The person.");
const TEMPLATE: (&str, &str) = (
    "templateId",
    "The template: 1 to 64 of a-z, 0-9, `.`, `_` and `-`, starting with a letter or digit.",
);
const TOKEN: (&str, &str) = ("token", "As it is in the mail.");
const ONCE: (&str, &str, bool) = (
    "Idempotency-Key",
    "A repeat with the same key and body within 24 hours gets the first answer.",
    false,
);
const IF_MATCH: (&str, &str, bool) =
    ("If-Match", "The `ETag` of the version you read; any version if left out.", false);

/// One entry an operation.
pub fn docs() -> Vec<Doc> {
    let mut docs = sending();
    docs.extend(people());
    docs.extend(templates());
    docs.extend(dead());
    docs.extend(public());
    docs
}

fn sending() -> Vec<Doc> {
    vec![
        Doc {
            description: "Their ids come back at once; each is sent by every way that the person has \
                          and has not switched off, or by the channels you name. What they do not \
                          want is kept as `suppressed`, and who has no address as `unreachable`, so \
                          that you can read why; neither fails the call.",
            headers: &[ONCE],
            body: Some(shape::<NewNotification>()),
            status: 202,
            answer: Some(shape::<AcceptedView>()),
            problems: &[409, 413],
            ..Doc::new("sendNotification", "Tell one person, or up to 1,000")
        },
        Doc {
            description: "For whoever sends, and for the person it is for.",
            path: &[NOTIFICATION],
            answer: Some(shape::<NotificationView>()),
            problems: &[404],
            ..Doc::new("readNotification", "What became of it, and why?")
        },
        Doc {
            description: "Cancels what has not gone out. What is being sent this moment may still \
                          arrive, but is not tried again. Repeating it changes nothing.",
            path: &[NOTIFICATION],
            answer: Some(shape::<NotificationView>()),
            problems: &[404],
            ..Doc::new("cancelNotification", "Take a notification back")
        },
    ]
}

fn people() -> Vec<Doc> {
    vec![
        Doc {
            path: &[USER],
            query: Some(shape::<LogQuery>()),
            answer: Some(shape::<LogView>()),
            problems: &[404],
            ..Doc::new("listNotifications", "A person's notifications, newest first")
        },
        Doc {
            path: &[USER],
            body: Some(shape::<ReadBody>()),
            body_optional: true,
            answer: Some(shape::<ReadView>()),
            problems: &[404],
            ..Doc::new("markNotificationsRead", "Everything up to then was read")
        },
        Doc {
            path: &[USER],
            answer: Some(shape::<PreferencesView>()),
            problems: &[404],
            ..Doc::new("readPreferences", "What does a person want?")
        },
        Doc {
            description: "Replaces all of it. What waits and is not wanted any more is cancelled; \
                          nothing that is switched off goes out after the answer.",
            path: &[USER],
            headers: &[IF_MATCH],
            body: Some(shape::<PreferencesBody>()),
            answer: Some(shape::<PreferencesView>()),
            problems: &[404, 412, 503],
            ..Doc::new("savePreferences", "Say what a person wants")
        },
        Doc {
            path: &[USER],
            answer: Some(shape::<ContactsView>()),
            problems: &[404],
            ..Doc::new("readContacts", "Where is a person reached?")
        },
        Doc {
            description: "Replaces all of it. What waits for an address that is gone is cancelled.",
            path: &[USER],
            headers: &[IF_MATCH],
            body: Some(shape::<ContactsBody>()),
            answer: Some(shape::<ContactsView>()),
            problems: &[404, 412, 503],
            ..Doc::new("saveContacts", "Say where a person is reached")
        },
    ]
}

fn templates() -> Vec<Doc> {
    const VERSION: (&str, &str) = ("version", "The version's number.");
    vec![
        Doc {
            description: "Makes the next version, which never changes; the first one is active at \
                          once, others once they are activated. The draft of the latest version \
                          again makes no other.",
            path: &[TEMPLATE],
            body: Some(shape::<DraftShape>()),
            status: 201,
            answer: Some(shape::<PublishedView>()),
            problems: &[413, 503],
            ..Doc::new("publishTemplate", "Publish a version of a template")
        },
        Doc {
            path: &[TEMPLATE],
            query: Some(shape::<TemplateQuery>()),
            answer: Some(shape::<TemplateView>()),
            problems: &[404],
            ..Doc::new("readTemplate", "Its texts, its versions, and their results")
        },
        Doc {
            description: "As somebody would read it; nothing is sent.",
            path: &[TEMPLATE],
            body: Some(shape::<PreviewBody>()),
            body_optional: true,
            answer: Some(shape::<PreviewView>()),
            problems: &[404],
            ..Doc::new("previewTemplate", "Try a template out")
        },
        Doc {
            description: "For whatever is accepted from now on; everywhere within five seconds.",
            path: &[TEMPLATE, VERSION],
            answer: Some(shape::<PublishedView>()),
            problems: &[404, 503],
            ..Doc::new("activateTemplate", "Use this version")
        },
    ]
}

fn dead() -> Vec<Doc> {
    vec![
        Doc {
            description: "Deliveries that were given up, newest first, with what can be done.",
            query: Some(shape::<LettersQuery>()),
            answer: Some(shape::<LettersView>()),
            ..Doc::new("listDeadLetters", "List dead letters")
        },
        Doc {
            description: "By id or by filter, at most 100 in a call, each counting as a call. A \
                          replay moves each letter once, so it can be repeated under its name.",
            body: Some(shape::<ReplayBody>()),
            answer: Some(shape::<ReplayView>()),
            ..Doc::new("replayDeadLetters", "Send dead letters again")
        },
    ]
}

fn public() -> Vec<Doc> {
    vec![
        Doc {
            description: "A page with a button. It changes nothing, because programs follow links.",
            query: Some(shape::<LinkQuery>()),
            media: &["text/html"],
            problems: &[403, 410],
            ..Doc::new("showUnsubscribe", "Unsubscribe?")
        },
        Doc {
            description: "One POST, by the page's button or by a mail program (RFC 8058), ends what \
                          the link is about. Repeating it changes nothing.",
            query: Some(shape::<LinkQuery>()),
            body: Some(shape::<OneClick>()),
            body_media: "application/x-www-form-urlencoded",
            media: &["text/html"],
            problems: &[403, 410],
            ..Doc::new("unsubscribe", "Unsubscribe")
        },
        Doc {
            description: "Signed as Standard Webhooks says, with a secret that the stack has for the \
                          provider. An event of SES as SNS wraps it is taken too. What is about \
                          nothing that the provider was handed is ignored and counted.",
            path: &[("provider", "The provider, as the stack names it.")],
            headers: &[
                ("webhook-id", "Names the call.", true),
                ("webhook-timestamp", "Seconds since 1970, at most five minutes off.", true),
                (
                    "webhook-signature",
                    "`v1,` and base64 of the HMAC-SHA256; several, spaced.",
                    true,
                ),
            ],
            body: Some(shape::<Vec<SaidShape>>()),
            answer: Some(shape::<HeardView>()),
            problems: &[401, 404, 413],
            ..Doc::new("hearProvider", "What became of what a provider was handed")
        },
        Doc {
            path: &[TOKEN],
            media: &["image/gif"],
            problems: &[404, 410],
            ..Doc::new("trackOpen", "A mail was opened")
        },
        Doc {
            description: "Leads to where the link leads.",
            path: &[TOKEN],
            status: 302,
            problems: &[404, 410],
            ..Doc::new("trackClick", "A link in a mail was followed")
        },
    ]
}
