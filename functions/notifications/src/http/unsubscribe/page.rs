//! The pages that a link to unsubscribe leads to.
//!
//! Guarantee: nothing that came in reaches a page unescaped. Absent: scripts, and anything from
//! another host.

use domain::notifications::token::InvalidToken;
use domain::notifications::{Category, Channel};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// Shows what would end, with a button that ends it.
pub(super) fn confirm(token: &str, category: &Category, channel: Channel) -> Markup {
    let content = html! {
        p {
            "You will get no more " b { (printable(category.as_str())) } " notifications by "
            (channel_name(channel)) ". Anything else reaches you as before."
        }
        form method="post" action={ "/unsubscribe?token=" (printable(token)) } {
            input type="hidden" name="List-Unsubscribe" value="One-Click";
            button type="submit" { "Unsubscribe" }
        }
        p.soft { "Nothing changes until you press the button." }
    };
    page("Unsubscribe?", &content)
}

/// Says that it has ended.
pub(super) fn done(category: &Category, channel: Channel) -> Markup {
    let content = html! {
        p {
            "You will get no more " b { (printable(category.as_str())) } " notifications by "
            (channel_name(channel)) ". What is on its way this very moment may still arrive."
        }
        p.soft { "You can switch them on again in your preferences." }
    };
    page("You are unsubscribed", &content)
}

/// Says that the link proves nothing.
pub(super) fn invalid_link(invalid: InvalidToken) -> Markup {
    let (title, advice) = match invalid {
        InvalidToken::Forged => (
            "This link is not valid",
            "It may have been cut off on its way. Use the link in the mail itself, or your \
             preferences. Nothing was changed.",
        ),
        InvalidToken::Expired => (
            "This link has expired",
            "Use the link in a newer mail, or your preferences. Nothing was changed.",
        ),
    };
    page(title, &html! { p { (advice) } })
}

const fn channel_name(channel: Channel) -> &'static str {
    match channel {
        Channel::Email => "email",
        Channel::Sms => "text message",
        Channel::Push => "push",
    }
}

fn page(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex, nofollow";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { h1 { (title) } (content) } }
        }
    }
}

fn printable(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_came_in_is_markup() {
        let category: Category = serde_json::from_str(r#""<b>x</b>""#).unwrap();
        let page = confirm("\"><script>1</script>", &category, Channel::Email).into_string();
        assert!(!page.contains("<script") && !page.contains("<b>x"), "{page}");
        assert!(page.contains("&lt;b&gt;x"), "{page}");
    }
}
