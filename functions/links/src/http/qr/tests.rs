//! Pictures are read back by a scanner, from their pixels.

use super::*;

/// Pixels as a camera without colour sees them.
struct Grey {
    side: usize,
    pixels: Vec<u8>,
}

impl Grey {
    /// What a scanner reads from the picture on a light page, small ones held closer.
    fn scan(&self) -> String {
        let zoom = (450 / self.side).max(1);
        let (page, edge) = (*self.pixels.iter().max().unwrap(), self.side / 8);
        let at = |place: usize| (place / zoom).checked_sub(edge).filter(|at| *at < self.side);
        let grey = |x: usize, y: usize| match (at(x), at(y)) {
            (Some(x), Some(y)) => self.pixels[y * self.side + x],
            _ => page,
        };
        let wide = (self.side + 2 * edge) * zoom;
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(wide, wide, grey);
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1, "codes found");
        grids[0].decode().unwrap().1
    }

    /// Sides of the bounding box of what is darker than the corner: left, top, right, bottom.
    fn margins(&self) -> [usize; 4] {
        let ground = self.pixels[0];
        let dark = (0..self.pixels.len()).filter(|at| self.pixels[*at] != ground);
        let (xs, ys): (Vec<_>, Vec<_>) = dark.map(|at| (at % self.side, at / self.side)).unzip();
        let (right, bottom) = (xs.iter().max().unwrap(), ys.iter().max().unwrap());
        let (left, top) = (*xs.iter().min().unwrap(), *ys.iter().min().unwrap());
        [left, top, self.side - 1 - right, self.side - 1 - bottom]
    }
}

fn brightness(rgb: &[u8]) -> u8 {
    let [red, green, blue] = [0, 1, 2].map(|at| u32::from(rgb[at]));
    u8::try_from((red * 299 + green * 587 + blue * 114) / 1000).unwrap()
}

fn decode_png(file: &[u8]) -> Grey {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut rgb).unwrap();
    assert_eq!((frame.width, frame.color_type), (frame.height, png::ColorType::Rgb));
    Grey { side: frame.width as usize, pixels: rgb.chunks(3).map(brightness).collect() }
}

fn attribute<'a>(document: &'a str, before: &str) -> &'a str {
    let (_, rest) = document.split_once(before).unwrap();
    rest.split_once('"').unwrap().0
}

fn decode_svg(document: &str) -> Grey {
    let paint = |before: &str| {
        let hex = u32::from_str_radix(attribute(document, before), 16).unwrap().to_be_bytes();
        brightness(&hex[1..])
    };
    let side: usize =
        attribute(document, "viewBox=\"0 0 ").split_once(' ').unwrap().0.parse().unwrap();
    let ground = format!("<rect width=\"{side}\" height=\"{side}\" fill=\"#");
    let mut pixels = vec![paint(&ground); side * side];
    let dark = paint("<path fill=\"#");
    assert_eq!(document.matches("<path").count(), 1);
    for bar in attribute(document, " d=\"").split_terminator('z') {
        let (corner, rest) = bar.strip_prefix('M').unwrap().split_once('h').unwrap();
        let (run, back) = rest.split_once("v1h-").unwrap();
        assert_eq!(run, back, "the bar closes");
        let [x, y] = [0, 1].map(|at| corner.split(' ').nth(at).unwrap().parse::<usize>().unwrap());
        pixels[y * side + x..][..run.parse().unwrap()].fill(dark);
    }
    Grey { side, pixels }
}

fn options(query: &str) -> QrOptions {
    serde_urlencoded::from_str(query).unwrap()
}

fn style(query: &str) -> QrStyle {
    QrStyle::parse(&options(query)).unwrap()
}

fn link(length: usize) -> String {
    let tail = "abcXYZ019-_".chars().cycle();
    "https://s.example/".chars().chain(tail).take(length).collect()
}

#[test]
fn every_picture_reads_as_the_link_it_was_made_of() {
    let styles = [
        (20, ""),
        (33, "&color=1a2b3c&background=%23ffeedd"),
        (64, "&color=949494"),
        (120, "&background=949494"),
    ];
    for (row, size) in [64, 100, 255, 256].into_iter().enumerate() {
        for (column, margin) in [0, 1, 4, 16].into_iter().enumerate() {
            // A Latin square: each size and each margin meets each length and each pair of colours.
            let (length, colours) = styles[(row + column) % styles.len()];
            let query = format!("size={size}&margin={margin}{colours}");
            let (text, style) = (link(length), style(&query));
            let drawing = svg(&text, &style).unwrap();
            assert_eq!(decode_svg(&drawing).scan(), text, "svg {query}");
            match png(&text, &style) {
                Ok(file) => assert_eq!(decode_png(&file).scan(), text, "png {query}"),
                Err(DrawError::Style(InvalidStyle::Crowded { least })) => assert!(least > size),
                Err(error) => panic!("{query}: {error}"),
            }
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    #[test]
    fn any_style_that_is_accepted_can_be_scanned(
        size in 64_u32..300, margin in 2_u32..=16, text in "https://[a-z]{2,8}\\.[a-z]{2}/[!-~]{6,100}",
        dark in "([0-5][0-9a-f]){3}", light in "([a-f][0-9a-f]){3}",
    ) {
        let (color, background) = (Some(dark), Some(light));
        let asked = QrOptions { size: Some(size), margin: Some(margin), color, background, domain: None };
        let Ok(style) = QrStyle::parse(&asked) else { return Ok(()) };
        proptest::prop_assert_eq!(decode_svg(&svg(&text, &style).unwrap()).scan(), text.clone());
        if let Ok(file) = png(&text, &style) {
            let picture = decode_png(&file);
            proptest::prop_assert_eq!(picture.side, size as usize);
            proptest::prop_assert_eq!(picture.scan(), text);
        }
    }
}

#[test]
fn the_largest_picture_stays_a_small_file() {
    let file = png(&link(120), &style("size=2048")).unwrap();
    assert_eq!(decode_png(&file).scan(), link(120));
    assert!(file.len() < 16 * 1024, "{} bytes", file.len());
}

#[test]
fn pixels_left_over_widen_the_margin_evenly() {
    // 25 modules and a margin of 4 are 33; 100 pixels make modules of 3, and 25 of them fill 75.
    let file = png(&link(20), &style("size=100")).unwrap();
    let picture = decode_png(&file);
    assert_eq!(picture.side, 100);
    assert_eq!(picture.margins(), [12, 12, 13, 13]);
}

#[test]
fn without_a_margin_the_code_touches_the_edge_of_the_drawing() {
    let drawing = decode_svg(&svg(&link(20), &style("margin=0")).unwrap());
    assert_eq!((drawing.side, drawing.pixels[0]), (25, 0));
}

#[test]
fn a_picture_too_small_for_its_modules_says_what_would_do() {
    let Err(DrawError::Style(bad)) = png(&link(120), &style("size=64&margin=16")) else {
        panic!("drawn");
    };
    let InvalidStyle::Crowded { least } = bad else { panic!("{bad}") };
    assert_eq!(bad.to_string(), format!("at least {least} to hold this link and its margin"));
    assert!(png(&link(120), &style(&format!("size={least}&margin=16"))).is_ok());
    assert!(png(&link(120), &style(&format!("size={}&margin=16", least - 1))).is_err());
}

#[test]
fn text_beyond_any_code_is_refused_and_not_cut() {
    assert_eq!(svg(&link(3000), &QrStyle::default()), Err(InvalidStyle::TooLong));
    assert!(matches!(
        png(&link(3000), &QrStyle::default()),
        Err(DrawError::Style(InvalidStyle::TooLong))
    ));
}

#[test]
fn a_bad_style_names_its_field_and_rule() {
    let inverted = "darker than the other colour";
    for (query, field, rule) in [
        ("size=63", "size", "a number of pixels from 64 to 2048"),
        ("size=2049", "size", "a number of pixels from 64 to 2048"),
        ("margin=17", "margin", "a number of modules from 0 to 16"),
        ("color=red", "color", "six hex digits, like 1a2b3c or #1a2b3c"),
        ("background=12345", "background", "six hex digits, like 1a2b3c or #1a2b3c"),
        ("color=ffffff&background=000000", "color", inverted),
        ("background=000000&color=010101", "color", inverted),
        ("color=959595", "color", "in a contrast of at least 3 to 1 to the other colour, not 2.9"),
        (
            "background=000000",
            "background",
            "in a contrast of at least 3 to 1 to the other colour, not 1.0",
        ),
    ] {
        let bad = QrStyle::parse(&options(query)).unwrap_err();
        assert_eq!((bad.field(), bad.to_string().as_str()), (field, rule), "{query}");
    }
}

#[test]
fn the_bounds_themselves_are_allowed() {
    for query in
        ["size=64", "size=2048", "margin=0", "margin=16", "color=949494", "domain=s.example"]
    {
        assert!(QrStyle::parse(&options(query)).is_ok(), "{query}");
    }
    assert_eq!(style(""), QrStyle::default());
    assert!(serde_urlencoded::from_str::<QrOptions>("colour=000000").is_err());
}

#[test]
fn a_title_holds_any_text_without_breaking_the_drawing() {
    let drawn = svg("https://s.example/?a=1&b=<\"x\">\u{7}", &QrStyle::default()).unwrap();
    assert!(drawn.contains("<title>QR code of https://s.example/?a=1&amp;b=&lt;\"x\"&gt;</title>"));
}
