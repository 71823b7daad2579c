//! The picture as SVG: one rectangle, one path, sharp at every scale.

use std::fmt::Write as _;

use qrcodegen::QrCode;

use super::{InvalidStyle, QrStyle, encode, side};

/// Draws `text` with a unit a module. It is shown `size` pixels wide unless the page says otherwise.
pub fn svg(text: &str, style: &QrStyle) -> Result<String, InvalidStyle> {
    let code = encode(text)?;
    let QrStyle { size, dark, light, .. } = style;
    let side = side(&code, style);
    let (title, path) = (escape(text), path(&code, style.margin));
    Ok(format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="0 0 {side} {side}" shape-rendering="crispEdges" role="img"><title>QR code of {title}</title><rect width="{side}" height="{side}" fill="{light}"/><path fill="{dark}" d="{path}"/></svg>"#
    ))
}

/// A bar for each run of dark modules in a row: a third of the length of a square for each.
fn path(code: &QrCode, margin: u32) -> String {
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let run = (x..code.size()).take_while(|x| code.get_module(*x, y)).count();
            if run > 0 {
                let (left, top) = (x.unsigned_abs() + margin, y.unsigned_abs() + margin);
                // Writing to a string can't fail.
                let _ = write!(path, "M{left} {top}h{run}v1h-{run}z");
            }
            x += i32::try_from(run).unwrap_or(code.size()).max(1);
        }
    }
    path
}

/// Text as XML holds it. Control characters have no form there at all.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}
