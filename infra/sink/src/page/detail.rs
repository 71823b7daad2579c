//! One message, by the tab that was chosen.

use maud::{Markup, html};

use super::{Tab, View, badge};
use crate::{MailFeedback, ProviderKind, SinkMessage};

/// Links in a mail open in another tab of the browser, without a referrer or an opener.
const SANDBOX: &str = "allow-popups allow-popups-to-escape-sandbox";

pub(super) fn render(view: &View<'_>, message: &SinkMessage, tab: Tab) -> Markup {
    html! {
        article {
            p class="back" { a href=(view.link(None, view.via)) { "← All messages" } }
            h1 { (message.headline()) }
            dl class="meta" {
                div { dt { "Via" } dd { (badge(message.via)) } }
                div { dt { "To" } dd { (message.to) } }
                @if let Some(from) = &message.from { div { dt { "From" } dd { (from) } } }
                div {
                    dt { "Sent" }
                    dd {
                        time datetime=(message.at) {
                            (message.at.strftime("%Y-%m-%d %H:%M:%S UTC"))
                        }
                    }
                }
            }
            @if matches!(message.via, ProviderKind::Smtp | ProviderKind::Ses) {
                (feedback_forms(view, message))
            }
            (tabs(view, message, tab))
            (body(message, tab))
        }
    }
}

fn feedback_forms(view: &View<'_>, message: &SinkMessage) -> Markup {
    let forms =
        [(MailFeedback::Bounced, "Let it bounce"), (MailFeedback::Complained, "Call it spam")];
    html! {
        div class="actions words" {
            @for (feedback, label) in forms {
                form method="post" action={ (view.at) "/" (message.id) "/" (feedback.name()) } {
                    button { (label) }
                }
            }
        }
    }
}

fn tabs(view: &View<'_>, message: &SinkMessage, open: Tab) -> Markup {
    let has = |tab: &Tab| match tab {
        Tab::Html => message.html.is_some(),
        Tab::Headers => !message.headers.is_empty(),
        Tab::Text | Tab::Source => true,
    };
    html! {
        nav class="tabs" aria-label="Parts of the message" {
            @for tab in Tab::ALL.into_iter().filter(has) {
                a href=(view.link(Some((message.id, tab)), view.via))
                    aria-current=[(tab == open).then_some("page")] { (tab.label()) }
            }
            a class="json" href={ (view.at) "/" (message.id) ".json" } { "JSON" }
        }
    }
}

fn body(message: &SinkMessage, tab: Tab) -> Markup {
    html! {
        @match tab {
            Tab::Html => {
                iframe title="The mail" sandbox=(SANDBOX) referrerpolicy="no-referrer"
                    srcdoc={ "<base target=\"_blank\">" (message.html.as_deref().unwrap_or_default()) } {}
            }
            Tab::Text => { pre class="text" { (message.text) } }
            Tab::Headers => {
                table class="headers" {
                    tbody {
                        @for (name, value) in &message.headers {
                            tr { th scope="row" { (name) } td { (value) } }
                        }
                    }
                }
            }
            Tab::Source => { pre class="source" { (message.source) } }
        }
    }
}
