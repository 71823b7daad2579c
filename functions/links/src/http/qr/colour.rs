//! Colours, and how far apart two of them look.

/// Red, green and blue, as sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour([u8; 3]);

impl Colour {
    pub const BLACK: Self = Self([0; 3]);
    pub const WHITE: Self = Self([255; 3]);

    /// Reads six hex digits, after a `#` or not.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        // Not left to the number parser alone, which takes a sign.
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
        Some(Self([red, green, blue]))
    }

    /// The three bytes, for a palette.
    pub const fn rgb(self) -> [u8; 3] {
        self.0
    }

    /// How bright it looks, 0 to 1: WCAG's relative luminance.
    pub fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|channel| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// WCAG's contrast between the two, 1 to 21, whichever is the lighter.
    pub fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }
}

impl std::fmt::Display for Colour {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [red, green, blue] = self.0;
        write!(out, "#{red:02x}{green:02x}{blue:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_hex_digits_are_a_colour_and_nothing_else_is() {
        for text in ["1a2b3c", "#1a2b3c", "#1A2B3C"] {
            assert_eq!(Colour::parse(text).unwrap().to_string(), "#1a2b3c", "{text}");
        }
        for text in ["", "#", "fff", "##1a2b3c", "1a2b3", "1a2b3c4", "+1a2b3", "red", "1a2b3é"] {
            assert_eq!(Colour::parse(text), None, "{text}");
        }
    }

    #[test]
    fn contrast_agrees_with_published_pairs() {
        for (one, two, contrast) in
            [("000000", "ffffff", 21.0), ("767676", "ffffff", 4.54), ("ff0000", "ffffff", 4.0)]
        {
            let (one, two) = (Colour::parse(one).unwrap(), Colour::parse(two).unwrap());
            assert!((one.contrast(two) - contrast).abs() < 0.01, "{one} {two}");
            assert!((one.contrast(two) - two.contrast(one)).abs() < f64::EPSILON);
        }
    }
}
