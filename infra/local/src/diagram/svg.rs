//! Writes cards as SVG, for light and dark pages.

use std::fmt::Write as _;

use super::{COLUMNS, Card, Edge, Kind, Node};

const WIDTH: usize = 778;
const HEADER: usize = 84;

const STYLE: &str = "svg{--page:#fff;--card:#f6f8fa;--border:#d1d9e0;--text:#1f2328;--muted:#59636e;\
--request:#0969da;--message:#bc4c00;--schedule:#1a7f37;--data:#8250df}\
@media(prefers-color-scheme:dark){svg{--page:#0d1117;--card:#151b23;--border:#3d444d;--text:#f0f6fc;\
--muted:#9198a1;--request:#4493f8;--message:#db6d28;--schedule:#3fb950;--data:#ab7df8}}\
text{font:12.5px -apple-system,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif;fill:var(--text)}\
.name{font-weight:600}.title{font-size:15px;font-weight:600}.note{font-size:11px;font-weight:400;fill:var(--muted)}\
.page,.node{fill:var(--page)}.card{fill:var(--card)}.card,.node{stroke:var(--border)}\
.edge{fill:none;stroke-width:1.5}.Request{--c:var(--request)}.Message{--c:var(--message)}\
.Schedule{--c:var(--schedule)}.Data{--c:var(--data)}.edge{stroke:var(--c)}.mark{fill:var(--c)}";

pub(super) fn page(cards: &[Card<'_>]) -> String {
    let height = cards.iter().fold(HEADER, |y, card| y + card.height + 14);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"title desc\">\n<title id=\"title\">The architecture of Switchyard</title>\n\
         <desc id=\"desc\">What invokes the functions of each system, and which topics, queues, tables and \
         buckets they use.</desc>\n<style>{STYLE}</style>\n"
    );
    for kind in [Kind::Request, Kind::Message, Kind::Schedule] {
        let _ = writeln!(
            svg,
            "<marker id=\"{kind:?}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto-start-reverse\">\
             <path class=\"mark {kind:?}\" d=\"M0 0L8 4L0 8z\"/></marker>"
        );
    }
    let _ = writeln!(svg, "<rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>");
    let legend = [
        (Kind::Request, "invokes with a request"),
        (Kind::Message, "sends a message"),
        (Kind::Schedule, "invokes on a schedule"),
        (Kind::Data, "reads and writes"),
    ];
    for (x, (kind, meaning)) in (COLUMNS[0].0..).step_by(192).zip(legend) {
        line(&mut svg, kind, &format!("M{x} 24H{}", x + 30), false);
        if kind == Kind::Data {
            dot(&mut svg, x + 30, 24);
        }
        label(&mut svg, "note", x + 38, 28, meaning);
    }
    let headings = ["Requests", "Functions", "Topics, queues, schedules", "Functions"];
    for ((x, _), heading) in COLUMNS.iter().zip(headings) {
        label(&mut svg, "name", *x, 68, heading);
    }
    cards.iter().fold(HEADER, |y, card| {
        draw(&mut svg, card, y);
        y + card.height + 14
    });
    svg + "</svg>\n"
}

fn draw(svg: &mut String, card: &Card<'_>, y: usize) {
    let _ = writeln!(svg, "<g transform=\"translate(0 {y})\">");
    rect(svg, "card", (9, 0, WIDTH - 18, card.height), 10);
    let (x, title, about) = (COLUMNS[0].0, card.system.title, escaped(card.system.about));
    let _ = writeln!(
        svg,
        "<text class=\"title\" x=\"{x}\" y=\"24\">{title}<tspan class=\"note\" dx=\"9\">{about}</tspan></text>"
    );
    for (index, edge) in card.edges.iter().enumerate() {
        line(svg, edge.kind, &path(card, index, edge), edge.both_ways);
    }
    for Node { kind, title, notes, x, y, width, height, .. } in &card.nodes {
        let (x, y, height) = (*x, *y, *height);
        rect(svg, "node", (x, y, *width, height), if *kind == Kind::Function { 8 } else { 3 });
        rect(
            svg,
            &format!("mark {kind:?}"),
            (x, y, if *kind == Kind::Function { 0 } else { 3 }, height),
            1,
        );
        label(svg, "name", x + 10, y + 18, title);
        for (row, note) in (1..).zip(notes) {
            let (dx, dy) = if *kind == Kind::Data { (174, 18) } else { (10, 18 + 14 * row) };
            label(svg, "note", x + dx, y + dy, note);
        }
    }
    for edge in card.edges.iter().filter(|edge| edge.kind == Kind::Data) {
        dot(svg, lane(card, &card.nodes[edge.from]), card.nodes[edge.to].y);
    }
    svg.push_str("</g>\n");
}

/// From the side of one node to the facing side of another in a curve; straight down in one column; and down
/// a lane beside the functions to data.
fn path(card: &Card<'_>, index: usize, edge: &Edge) -> String {
    let (from, to) = (&card.nodes[edge.from], &card.nodes[edge.to]);
    if edge.kind == Kind::Data {
        return format!(
            "M{} {}H{}V{}",
            from.x + from.width,
            from.y + from.height - 6,
            lane(card, from),
            to.y
        );
    }
    if from.x == to.x {
        return format!("M{} {}V{}", from.x + from.width / 2, from.y + from.height, to.y - 1);
    }
    let (y1, y2) = (port(card, index, edge.from), port(card, index, edge.to));
    if from.x < to.x {
        let (x1, x2) = (from.x + from.width, to.x);
        return format!("M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}", x1 + 22, x2 - 22);
    }
    let (x1, x2) = (from.x, to.x + to.width);
    format!("M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}", x1 - 22, x2 + 22)
}

/// Where a function's line to data goes down: the lower the function, the nearer, so that none cross.
fn lane(card: &Card<'_>, function: &Node) -> usize {
    let below = card.nodes.iter().filter(|it| it.x == function.x && it.y > function.y);
    let below = below.filter(|it| it.kind == Kind::Function).count();
    function.x + function.width + 7 + 6 * below
}

/// Where an edge meets a node: the edges of a side share it, in the order of their other ends.
fn port(card: &Card<'_>, index: usize, at: usize) -> usize {
    let node = &card.nodes[at];
    let other = |edge: &Edge| &card.nodes[if edge.from == at { edge.to } else { edge.from }];
    let side = other(&card.edges[index]).x < node.x;
    let edges = card.edges.iter().enumerate().filter(|(_, it)| it.from == at || it.to == at);
    let edges = edges.filter(|(_, it)| it.kind != Kind::Data && other(it).x != node.x);
    let edges = edges.filter(|(_, it)| (other(it).x < node.x) == side);
    let mut ends: Vec<_> = edges.map(|(index, it)| (other(it).y, index)).collect();
    ends.sort_unstable();
    let place = ends.iter().position(|(_, it)| *it == index).unwrap_or(0);
    node.y + node.height * (place + 1) / (ends.len() + 1)
}

fn line(svg: &mut String, kind: Kind, path: &str, both_ways: bool) {
    let end =
        if kind == Kind::Data { String::new() } else { format!(" marker-end=\"url(#{kind:?})\"") };
    let start = if both_ways { format!(" marker-start=\"url(#{kind:?})\"") } else { String::new() };
    let _ = writeln!(svg, "<path class=\"edge {kind:?}\" d=\"{path}\"{start}{end}/>");
}

fn rect(
    svg: &mut String,
    class: &str,
    (x, y, width, height): (usize, usize, usize, usize),
    radius: usize,
) {
    let place =
        format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"");
    let _ = writeln!(svg, "<rect class=\"{class}\" {place}/>");
}

fn dot(svg: &mut String, x: usize, y: usize) {
    let _ = writeln!(svg, "<circle class=\"mark Data\" cx=\"{x}\" cy=\"{y}\" r=\"3\"/>");
}

fn label(svg: &mut String, class: &str, x: usize, y: usize, text: &str) {
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(text));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
