//! QR codes of short links, as PNG or SVG.
//!
//! Guarantee: a picture that is made can be scanned. What would defeat a scanner (little contrast,
//! light modules on a dark ground, modules narrower than a pixel) is refused, with the rule it broke.
//!
//! Absent: logos, rounded modules and gradients. Each costs error correction that a printed or
//! photographed code needs.

mod colour;
mod svg;

pub use colour::Colour;
pub use svg::svg;

use domain::Failure;
use qrcodegen::{QrCode, QrCodeEcc};
use schemars::JsonSchema;
use serde::Deserialize;

/// Pixels a picture may have on each side.
const SIZES: std::ops::RangeInclusive<u32> = 64..=2048;

/// Modules of quiet zone at most; scanners want four.
const MAX_MARGIN: u32 = 16;

/// WCAG contrast that scanners still manage under bad light.
const MIN_CONTRAST: f64 = 3.0;

/// How the picture should look.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QrOptions {
    /// Pixels on each side, 64 to 2048; 256 if left out.
    #[schemars(range(min = 64, max = 2048))]
    pub size: Option<u32>,
    /// Modules of quiet zone on each side, 0 to 16; 4 if left out.
    #[schemars(range(min = 0, max = 16))]
    pub margin: Option<u32>,
    /// The modules' colour, like `1a2b3c`; black if left out.
    #[schemars(regex(pattern = "^#?[0-9a-fA-F]{6}$"))]
    pub color: Option<String>,
    /// The colour behind them, like `ffffff`; white if left out.
    #[schemars(regex(pattern = "^#?[0-9a-fA-F]{6}$"))]
    pub background: Option<String>,
    /// The link's domain; the default domain if left out.
    pub domain: Option<String>,
}

/// How a picture looks. Only [`QrStyle::parse`] makes one, so that every style can be scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QrStyle {
    size: u32,
    margin: u32,
    dark: Colour,
    light: Colour,
}

impl Default for QrStyle {
    fn default() -> Self {
        Self { size: 256, margin: 4, dark: Colour::BLACK, light: Colour::WHITE }
    }
}

impl QrStyle {
    /// The style of `options`, with defaults for those that are absent.
    pub fn parse(options: &QrOptions) -> Result<Self, InvalidStyle> {
        let plain = Self::default();
        let size = options.size.unwrap_or(plain.size);
        let margin = options.margin.unwrap_or(plain.margin);
        if !SIZES.contains(&size) {
            return Err(InvalidStyle::Size);
        }
        if margin > MAX_MARGIN {
            return Err(InvalidStyle::Margin);
        }
        let dark = options.color.as_deref().map_or(Some(plain.dark), Colour::parse);
        let light = options.background.as_deref().map_or(Some(plain.light), Colour::parse);
        let dark = dark.ok_or(InvalidStyle::Colour { field: "color" })?;
        let light = light.ok_or(InvalidStyle::Colour { field: "background" })?;
        // The complaint names a field that the caller set.
        let field = if options.color.is_some() { "color" } else { "background" };
        if dark.luminance() > light.luminance() {
            return Err(InvalidStyle::Inverted { field });
        }
        let contrast = dark.contrast(light);
        if contrast < MIN_CONTRAST {
            return Err(InvalidStyle::Contrast { field, found: (contrast * 10.0).floor() / 10.0 });
        }
        Ok(Self { size, margin, dark, light })
    }
}

/// The rule that a style breaks. It reads on from "`size` must be".
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum InvalidStyle {
    /// Too small or too large a picture.
    #[error("a number of pixels from {} to {}", SIZES.start(), SIZES.end())]
    Size,
    /// Too wide a quiet zone.
    #[error("a number of modules from 0 to {MAX_MARGIN}")]
    Margin,
    /// Not a colour.
    #[error("six hex digits, like 1a2b3c or #1a2b3c")]
    Colour {
        /// The colour's name in the query.
        field: &'static str,
    },
    /// Light modules on a dark ground, which many scanners don't see.
    #[error("{} than the other colour", if *field == "color" { "darker" } else { "lighter" })]
    Inverted {
        /// The colour's name in the query.
        field: &'static str,
    },
    /// Colours too much alike.
    #[error("in a contrast of at least {MIN_CONTRAST} to 1 to the other colour, not {found:.1}")]
    Contrast {
        /// The colour's name in the query.
        field: &'static str,
        /// The contrast they have, rounded down.
        found: f64,
    },
    /// Fewer pixels than the code has modules.
    #[error("at least {least} to hold this link and its margin")]
    Crowded {
        /// The smallest size that works.
        least: u32,
    },
    /// More text than a QR code holds.
    #[error("short enough for a QR code")]
    TooLong,
}

impl InvalidStyle {
    /// The query's field that broke the rule; `url` for a text that is too long.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Size | Self::Crowded { .. } => "size",
            Self::Margin => "margin",
            Self::Colour { field } | Self::Inverted { field } | Self::Contrast { field, .. } => {
                field
            }
            Self::TooLong => "url",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// The style or the text can't be drawn.
    #[error(transparent)]
    Style(#[from] InvalidStyle),
    /// The encoder broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// Draws `text` in two colours, one bit a pixel. Modules are whole pixels; those left over widen the
/// margin on all sides.
pub fn png(text: &str, style: &QrStyle) -> Result<Vec<u8>, DrawError> {
    let code = encode(text)?;
    let pixels = pixels(&code, style)?;
    let drawn = compress(&pixels, style);
    Ok(drawn.map_err(|cause| Failure::new("encode the PNG", cause))?)
}

fn compress(pixels: &[u8], style: &QrStyle) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, style.size, style.size);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::One);
    encoder.set_palette([style.light.rgb(), style.dark.rgb()].concat());
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(file)
}

/// Rows of bits, each padded to whole bytes; a set bit is dark.
fn pixels(code: &QrCode, style: &QrStyle) -> Result<Vec<u8>, InvalidStyle> {
    let side = side(code, style);
    let module = style.size / side;
    if module == 0 {
        return Err(InvalidStyle::Crowded { least: side });
    }
    let start = (style.size - module * code.size().unsigned_abs()) / 2;
    let stride = style.size.div_ceil(8) as usize;
    let mut bits = vec![0; stride * start as usize];
    for y in 0..code.size() {
        let mut row = vec![0_u8; stride];
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            let left = start + module * x.unsigned_abs();
            for pixel in left..left + module {
                row[pixel as usize / 8] |= 0x80 >> (pixel % 8);
            }
        }
        bits.extend(row.repeat(module as usize));
    }
    bits.resize(stride * style.size as usize, 0);
    Ok(bits)
}

/// Medium correction mends 15 % of a code, and the encoder raises it where that costs no module.
fn encode(text: &str) -> Result<QrCode, InvalidStyle> {
    QrCode::encode_text(text, QrCodeEcc::Medium).map_err(|_| InvalidStyle::TooLong)
}

/// Modules on a side, margins included.
fn side(code: &QrCode, style: &QrStyle) -> u32 {
    code.size().unsigned_abs() + 2 * style.margin
}

#[cfg(test)]
mod tests;
