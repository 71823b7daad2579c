//! The pages that a link to unsubscribe leads to.
//!
//! Guarantee: nothing that came in reaches a page unescaped. Absent: scripts, and anything from
//! another host.

use domain::notifications::token::InvalidToken;
use domain::notifications::{Category, Channel};

const STYLE: &str = include_str!("style.css");

/// Shows what would end, with a button that ends it.
pub(super) fn confirm(token: &str, category: &Category, channel: Channel) -> String {
    let (what, how) = (escaped(category.as_str()), channel_name(channel));
    let content = format!(
        "<h1>Unsubscribe?</h1>\n<p>You will get no more <b>{what}</b> notifications by {how}. \
         Anything else reaches you as before.</p>\n\
         <form method=\"post\" action=\"/unsubscribe?token={}\">\n\
         <input type=\"hidden\" name=\"List-Unsubscribe\" value=\"One-Click\">\n\
         <button type=\"submit\">Unsubscribe</button>\n</form>\n\
         <p class=\"soft\">Nothing changes until you press the button.</p>\n",
        escaped(token)
    );
    page("Unsubscribe?", &content)
}

pub(super) fn done(category: &Category, channel: Channel) -> String {
    let (what, how) = (escaped(category.as_str()), channel_name(channel));
    let content = format!(
        "<h1>You are unsubscribed</h1>\n<p>You will get no more <b>{what}</b> notifications by \
         {how}. What is on its way this very moment may still arrive.</p>\n\
         <p class=\"soft\">You can switch them on again in your preferences.</p>\n"
    );
    page("You are unsubscribed", &content)
}

/// Says that the link proves nothing.
pub(super) fn invalid_link(invalid: InvalidToken) -> String {
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
    page(title, &format!("<h1>{title}</h1>\n<p>{advice}</p>\n"))
}

const fn channel_name(channel: Channel) -> &'static str {
    match channel {
        Channel::Email => "email",
        Channel::Sms => "text message",
        Channel::Push => "push",
    }
}

fn page(title: &str, content: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"robots\" content=\"noindex, nofollow\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{content}</main>\n\
         </body>\n</html>\n"
    )
}

fn escaped(text: &str) -> String {
    domain::html::escape(&text.replace(char::is_control, " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_came_in_is_markup() {
        let category: Category = serde_json::from_str(r#""<b>x</b>""#).unwrap();
        let page = confirm("\"><script>1</script>", &category, Channel::Email);
        assert!(!page.contains("<script") && !page.contains("<b>x"), "{page}");
        assert!(page.contains("&lt;b&gt;x"), "{page}");
    }
}
