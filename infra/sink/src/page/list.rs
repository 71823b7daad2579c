//! The list of messages, newest first, by provider.

use maud::{Markup, html};

use super::{View, badge};
use crate::{ProviderKind, SinkMessage};

pub(super) fn render(view: &View<'_>) -> Markup {
    let listed: Vec<_> =
        view.messages.iter().filter(|it| view.via.is_none_or(|via| via == it.via)).collect();
    html! {
        aside {
            (filters(view))
            ol class="list" {
                @for message in &listed { (row(view, message)) }
                @if listed.is_empty() { li class="none" { "Nothing was sent yet." } }
            }
        }
    }
}

fn filters(view: &View<'_>) -> Markup {
    let all = (None, "All", view.messages.len());
    let each = ProviderKind::ALL.map(|via| {
        let count = view.messages.iter().filter(|message| message.via == via).count();
        (Some(via), via.label(), count)
    });
    html! {
        nav class="filters" aria-label="Providers" {
            @for (via, label, count) in std::iter::once(all).chain(each) {
                @if count > 0 || via.is_none() || via == view.via {
                    a href=(view.link(None, via)) aria-current=[(via == view.via).then_some("page")] {
                        (label) " " span { (count) }
                    }
                }
            }
        }
    }
}

fn row(view: &View<'_>, message: &SinkMessage) -> Markup {
    let selected = view.selected.is_some_and(|(id, _)| id == message.id);
    let link = view.link(Some((message.id, View::first_tab(message))), view.via);
    html! {
        li {
            a href=(link) aria-current=[selected.then_some("true")] {
                span class="line" {
                    (badge(message.via))
                    span class="to" { (message.to) }
                    time datetime=(message.at) { (message.at.strftime("%H:%M:%S")) }
                }
                b { (message.headline()) }
                span class="gist" { (message.excerpt()) }
            }
        }
    }
}
