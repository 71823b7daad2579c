//! `GET /qr/{code}.png` and `.svg`, read back by a scanner from their pixels.

use http::Method;
use serde_json::json;
use tests::{Lab, Response};

use super::{assert_names, assert_problem, code, delete, plain};

const HOST: &str = "sy.localhost:3000";

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
}

fn brightness(rgb: &[u8]) -> u8 {
    let [red, green, blue] = [0, 1, 2].map(|at| u32::from(rgb[at]));
    u8::try_from((red * 299 + green * 587 + blue * 114) / 1000).unwrap()
}

fn png(file: &[u8]) -> Grey {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut rgb).unwrap();
    assert_eq!((frame.width, frame.color_type), (frame.height, png::ColorType::Rgb));
    Grey { side: frame.width as usize, pixels: rgb.chunks(3).map(brightness).collect() }
}

fn attribute<'a>(document: &'a str, before: &str) -> &'a str {
    document.split_once(before).unwrap().1.split_once('"').unwrap().0
}

/// Paints the bars of the one path on a ground of the other colour.
fn svg(document: &str) -> Grey {
    let paint = |before: &str| {
        let rgb = u32::from_str_radix(attribute(document, before), 16).unwrap().to_be_bytes();
        brightness(&rgb[1..])
    };
    let side = attribute(document, "viewBox=\"0 0 ").split_once(' ').unwrap().0;
    let side: usize = side.parse().unwrap();
    let ground = paint(&format!("<rect width=\"{side}\" height=\"{side}\" fill=\"#"));
    let (mut pixels, dark) = (vec![ground; side * side], paint("<path fill=\"#"));
    for bar in attribute(document, " d=\"").split_terminator('z') {
        let (corner, rest) = bar.strip_prefix('M').unwrap().split_once('h').unwrap();
        let (x, y) = corner.split_once(' ').unwrap();
        let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
        let run: usize = rest.split_once('v').unwrap().0.parse().unwrap();
        pixels[y * side + x..][..run].fill(dark);
    }
    Grey { side, pixels }
}

async fn draw(lab: &Lab, file: &str) -> Response {
    lab.call(Method::GET, &format!("/qr/{file}")).header("host", HOST).send().await
}

#[tokio::test(start_paused = true)]
async fn a_picture_reads_as_the_short_address_whatever_it_looks_like() {
    let lab = Lab::new();
    let link = code(&lab, "", &plain("https://example.org/")).await;
    let address = format!("http://{HOST}/{link}");
    for (query, side) in [
        ("", 256),
        ("?size=64&margin=0", 64),
        ("?size=500&margin=4", 500),
        ("?size=300&color=1a2b3c&background=ffeedd&margin=2", 300),
        ("?color=%23804000", 256),
    ] {
        let picture = draw(&lab, &format!("{link}.png{query}")).await;
        assert_eq!((picture.status.as_u16(), picture.header("content-type")), (200, "image/png"));
        let grey = png(&picture.bytes);
        assert_eq!((grey.side, grey.scan()), (side, address.clone()), "{query}");
        let drawing = draw(&lab, &format!("{link}.svg{query}")).await;
        assert_eq!(drawing.header("content-type"), "image/svg+xml", "{query}");
        let document = String::from_utf8(drawing.bytes.to_vec()).unwrap();
        assert_eq!(attribute(&document, " width=\""), side.to_string());
        assert_eq!(svg(&document).scan(), address, "{query}");
        for answer in [&picture, &drawing] {
            assert_eq!(answer.header("cache-control"), "public, max-age=86400");
            assert_eq!(answer.header("cross-origin-resource-policy"), "cross-origin");
        }
        assert!(drawing.header("content-security-policy").contains("default-src 'none'"));
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_scanner_reads_is_refused_by_name() {
    let lab = Lab::new();
    let link = code(&lab, "", &plain("https://example.org/")).await;
    for (query, field) in [
        ("size=63", "size"),
        ("size=2049", "size"),
        ("size=x", "size"),
        ("margin=17", "margin"),
        ("margin=-1", "margin"),
        ("color=red", "color"),
        ("background=12345", "background"),
        ("color=eeeeee", "color"),
        ("color=ffffff&background=000000", "color"),
        ("background=000000", "background"),
        ("domain=x", "domain"),
        ("colour=000000", "colour"),
    ] {
        for kind in ["png", "svg"] {
            let answer = draw(&lab, &format!("{link}.{kind}?{query}")).await;
            assert_names(&answer, field, &json!(query));
            assert_ne!(answer.header("cache-control"), "public, max-age=86400");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_has_no_picture() {
    let lab = Lab::new();
    let ada = lab.user("ada", &["member"]).await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    for file in ["unknown.png", "unknown.svg", "unknown", "a!b.png", ".png"] {
        assert_problem(&draw(&lab, file).await, 404, "not-found");
    }
    assert_problem(&draw(&lab, &format!("{link}.gif")).await, 404, "not-found");
    assert_problem(&draw(&lab, &format!("{link}.png?domain=go.example")).await, 404, "not-found");
    delete(&lab, &format!("/api/v1/url/{link}"), &ada).await;
    assert_problem(&draw(&lab, &format!("{link}.png")).await, 404, "not-found");
}
