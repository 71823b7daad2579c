//! Text on its way into HTML: nothing that was sent reaches the page without passing here.

pub(super) use domain::html::escape;

use crate::Message;

/// What a message is called: its title, or else how it begins.
pub(super) fn headline(message: &Message) -> &str {
    let lines = message.title.lines().chain(message.text.lines());
    lines.map(str::trim).find(|line| !line.is_empty()).unwrap_or("(empty)")
}

/// How it goes on; all of a message without a title is its headline.
pub(super) fn gist(message: &Message) -> String {
    let rest = if message.title.trim().is_empty() { "" } else { message.text.as_str() };
    let words: Vec<&str> = rest.split_whitespace().take(24).collect();
    words.join(" ")
}

/// Hours, minutes and seconds of the day, in UTC.
pub(super) fn time(message: &Message) -> String {
    message.at.strftime("%H:%M:%S").to_string()
}
