//! The page on which a developer reads what was sent, and scripts how providers behave.
//!
//! Guarantee: it is one HTML document without scripts and with nothing to fetch; everything that was sent
//! is escaped by maud, and an HTML mail is shown in a frame of its own that can run nothing and load
//! nothing. What [`respond`] changes, it changes for no other site: a form that was posted from another
//! site is refused, and so is a request by a name that is not this machine's.

mod controls;
mod detail;
mod list;
mod routes;

use std::sync::Arc;

use maud::{DOCTYPE, Markup, PreEscaped, html};
pub(crate) use routes::respond_own;
pub use routes::{feedback_request, respond};

use crate::{BehaviourRule, ProviderKind, SinkMessage};

/// Where the sink's own server has the page.
pub const MOUNT_PATH: &str = "/_sink";

const LOGO: &str = include_str!("page/logo.svg");

/// What the page shows.
#[derive(Debug, Clone)]
pub struct View<'a> {
    /// Where the page is mounted, as in `/_sink`.
    pub at: &'a str,
    /// All messages, newest first.
    pub messages: &'a [Arc<SinkMessage>],
    pub rules: &'a [(ProviderKind, BehaviourRule)],
    /// Lists only the messages of this provider.
    pub via: Option<ProviderKind>,
    /// The number of the message shown, and its tab.
    pub selected: Option<(u64, Tab)>,
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Html,
    Text,
    Headers,
    /// As it came over the wire.
    Source,
}

impl Tab {
    pub const ALL: [Self; 4] = [Self::Html, Self::Text, Self::Headers, Self::Source];

    /// Its name in URLs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Text => "text",
            Self::Headers => "headers",
            Self::Source => "source",
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Html => "HTML",
            Self::Text => "Text",
            Self::Headers => "Headers",
            Self::Source => "Source",
        }
    }
}

impl View<'_> {
    /// The URL of a view of the page.
    fn link(&self, selected: Option<(u64, Tab)>, via: Option<ProviderKind>) -> String {
        let path = selected.map_or_else(String::new, |(id, _)| format!("/{id}"));
        let tab = selected.map(|(_, tab)| format!("tab={}", tab.name()));
        let via = via.map(|via| format!("via={}", via.name()));
        let query: Vec<String> = via.into_iter().chain(tab).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}{path}{mark}{}", self.at, query.join("&"))
    }

    /// The tab that a message opens with.
    fn first_tab(message: &SinkMessage) -> Tab {
        if message.html.is_some() { Tab::Html } else { Tab::Text }
    }

    fn message(&self) -> Option<(&SinkMessage, Tab)> {
        let (id, tab) = self.selected?;
        let message = self.messages.iter().find(|message| message.id == id)?;
        // A message without HTML has no such tab.
        Some((message, if message.html.is_none() && tab == Tab::Html { Tab::Text } else { tab }))
    }
}

/// The whole page.
pub fn render(view: &View<'_>) -> String {
    let selected = view.message();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (selected.map_or("Sink", |(message, _)| message.headline())) }
                style { (PreEscaped(include_str!("page/style.css"))) }
            }
            body class=[selected.map(|_| "reading")] {
                header class="top" {
                    a class="brand" href=(view.link(None, None)) {
                        (PreEscaped(LOGO)) b { "Switchyard" } span { "sink" }
                    }
                    (controls::actions(view))
                }
                div class="panes" {
                    (list::render(view))
                    main {
                        @if let Some((message, tab)) = selected {
                            (detail::render(view, message, tab))
                        } @else {
                            (controls::render(view))
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn badge(via: ProviderKind) -> Markup {
    html! { span class={ "via " (via.name()) } { (via.label()) } }
}

#[cfg(test)]
mod tests;
