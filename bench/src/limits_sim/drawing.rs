//! The accuracy table as a picture: how much of what could have been admitted was, for each scenario.

use std::fmt::Write as _;
use std::path::Path;

use simulation::limits::LimitsReport;

use super::scenarios::Scenario;
use crate::table::grouped;

const LEFT: i64 = 250;
const WIDTH: i64 = 520;
const ROW: i64 = 20;
const TOP: i64 = 96;

/// Draws what was admitted beside the quota's bar, in parts of what one counter would have admitted.
pub(super) fn draw(results: &[(Scenario, LimitsReport)], path: &Path) -> std::io::Result<()> {
    let rows = i64::try_from(results.len()).unwrap_or(0);
    let groups = results.iter().map(|(scenario, _)| scenario.algorithm);
    let groups = i64::try_from(groups.fold(Vec::new(), distinct).len()).unwrap_or(1);
    let height = TOP + rows * ROW + groups * 34 + 40;
    let mut svg = String::new();
    // Writing to a String can't fail.
    let over: i64 = results.iter().map(|(_, report)| report.over).sum();
    let _ = write!(svg, "{}", head(height, over));
    let (mut y, mut group) = (TOP, "");
    for (scenario, report) in results {
        if scenario.algorithm != group {
            group = scenario.algorithm;
            y += 34;
            let _ = writeln!(svg, r#"<text x="16" y="{}" class="g">{group}</text>"#, y - 8);
        }
        row(&mut svg, y, scenario, report);
        y += ROW;
    }
    axis(&mut svg, y);
    svg.push_str("</svg>\n");
    std::fs::write(path, svg)
}

fn distinct(mut seen: Vec<&'static str>, name: &'static str) -> Vec<&'static str> {
    if seen.last() != Some(&name) {
        seen.push(name);
    }
    seen
}

fn head(height: i64, over: i64) -> String {
    let width = LEFT + WIDTH + 150;
    let over = if over == 0 { "Nothing was".to_owned() } else { format!("{over} units were") };
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="Admitted units as a share of what one exact counter would have admitted">
<style>text{{font:12px system-ui,sans-serif;fill:#334155}}.t{{font-size:18px;font-weight:600;fill:#0f172a}}.g{{font-weight:600;fill:#0f172a}}.n{{font-variant-numeric:tabular-nums}}.m{{fill:#64748b}}</style>
<rect width="{width}" height="{height}" fill="#ffffff"/>
<text x="16" y="32" class="t">300 nodes, one quota: what they admit together</text>
<text x="16" y="54" class="m">Each bar: admitted, of what a single counter without any delay would have admitted. The scale starts at 90 %, the promise is 95 %.</text>
<text x="16" y="72" class="m">{over} admitted beyond the quota in these runs. Quotas are for 10 s; percentages say how much was asked for.</text>
"##
    )
}

fn row(svg: &mut String, y: i64, scenario: &Scenario, report: &LimitsReport) {
    let share = (1_000 - report.under_thousandths()).clamp(900, 1_000);
    let (full, bar) = (WIDTH, (share - 900) * WIDTH / 100);
    let limit = grouped(scenario.plan.quota.limit.unsigned_abs());
    let colour = if share >= 950 { "#0d9488" } else { "#dc2626" };
    let _ = write!(
        svg,
        r##"<text x="16" y="{text}">{traffic}</text><text x="{right}" y="{text}" text-anchor="end" class="n m">{limit}</text>
<rect x="{LEFT}" y="{top}" width="{full}" height="12" rx="2" fill="#f1f5f9"/><rect x="{LEFT}" y="{top}" width="{bar}" height="12" rx="2" fill="{colour}"/>
<text x="{after}" y="{text}" class="n">{whole}.{part} %</text>
"##,
        text = y + 11,
        top = y + 1,
        right = LEFT - 12,
        traffic = scenario.traffic,
        after = LEFT + WIDTH + 12,
        whole = share / 10,
        part = share % 10,
    );
}

fn axis(svg: &mut String, bottom: i64) {
    for (percent, dashes) in [(90, "1 0"), (95, "4 4"), (100, "1 0")] {
        let x = LEFT + (percent - 90) * WIDTH / 10;
        let _ = writeln!(
            svg,
            r##"<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" stroke="#475569" stroke-width="1" stroke-dasharray="{dashes}"/><text x="{x}" y="{label}" text-anchor="middle" class="m">{percent} %</text>"##,
            top = TOP + 14,
            label = bottom + 18,
        );
    }
}
