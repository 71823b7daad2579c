//! How each provider behaves, and the forms to change that.

use std::fmt::Write as _;

use super::View;
use super::text::escape;
use crate::{Behaviour, Plan, Via};

/// The buttons at the top.
pub(super) fn actions(view: &View<'_>) -> String {
    let at = escape(view.at);
    let here = view.link(view.message().map(|(message, tab)| (message.id, tab)), view.via);
    format!(
        "<div class=\"actions\"><a class=\"button\" href=\"{here}\">Refresh</a>\
         <form method=\"post\" action=\"{at}/clear\"><button{disabled}>Clear</button></form></div>",
        disabled = if view.messages.is_empty() { " disabled" } else { "" },
    )
}

/// What is shown while nothing is being read.
pub(super) fn html(view: &View<'_>) -> String {
    let rows: String = view.plans.iter().map(|(via, plan)| row(view, *via, plan)).collect();
    format!(
        "<section class=\"controls\">\n<h1>How providers behave</h1>\n\
         <p>Everything sent from this machine ends here. Choose a message to read it, or have a \
         provider fail, to see what becomes of the next ones.</p>\n{rows}\
         <p class=\"hint\">The same from a terminal: <code>curl -d via=smtp -d kind=fail \
         -d code=550 -d 'said=5.1.1 no such user' -d times=2 localhost:$PORT{at}/behave</code>\
         </p>\n</section>\n",
        at = escape(view.at),
    )
}

const KINDS: [(&str, &str); 6] = [
    ("accept", "accepts"),
    ("fail", "refuses"),
    ("throttle", "wants to be left alone"),
    ("hang", "never answers"),
    ("slow", "answers late"),
    ("accept-then-cut", "accepts, then cuts the line"),
];

fn row(view: &View<'_>, via: Via, plan: &Plan) -> String {
    let kind = kind(&plan.behaviour);
    let mut options = String::new();
    for (name, label) in KINDS {
        let chosen = if name == kind { " selected" } else { "" };
        let _ = write!(options, "<option value=\"{name}\"{chosen}>{label}</option>");
    }
    let well = if plan.behaviour == Behaviour::Accept { "" } else { " ill" };
    format!(
        "<form class=\"plan{well}\" method=\"post\" action=\"{at}/behave\">\
         <input type=\"hidden\" name=\"via\" value=\"{name}\">\
         <span class=\"via {name}\">{label}</span>\
         <label><span>Behaviour</span><select name=\"kind\">{options}</select></label>\
         <label><span>Code</span><input name=\"code\" inputmode=\"numeric\" size=\"4\" \
         placeholder=\"{code}\" value=\"{code_now}\"></label>\
         <label class=\"wide\"><span>Reason</span><input name=\"said\" placeholder=\"{said}\" \
         value=\"{said_now}\"></label>\
         <label><span>Time</span><input name=\"amount\" inputmode=\"numeric\" size=\"5\" \
         placeholder=\"s or ms\" value=\"{amount}\"></label>\
         <label><span>Next</span><input name=\"times\" inputmode=\"numeric\" size=\"3\" \
         placeholder=\"all\" value=\"{times}\"></label><button>Set</button></form>\n",
        at = escape(view.at),
        name = via.name(),
        label = via.label(),
        code = example(via).0,
        said = example(via).1,
        code_now = if let Behaviour::Fail { code, .. } = &plan.behaviour {
            code.to_string()
        } else {
            String::new()
        },
        said_now = if let Behaviour::Fail { said, .. } = &plan.behaviour {
            escape(said)
        } else {
            String::new()
        },
        amount = amount(&plan.behaviour),
        times = plan.times.map(|times| times.to_string()).unwrap_or_default(),
    )
}

const fn kind(behaviour: &Behaviour) -> &'static str {
    match behaviour {
        Behaviour::Accept => "accept",
        Behaviour::Fail { .. } => "fail",
        Behaviour::Throttle { .. } => "throttle",
        Behaviour::Hang => "hang",
        Behaviour::Slow { .. } => "slow",
        Behaviour::AcceptThenCut => "accept-then-cut",
    }
}

fn amount(behaviour: &Behaviour) -> String {
    match behaviour {
        Behaviour::Throttle { retry_after_seconds } => retry_after_seconds.to_string(),
        Behaviour::Slow { milliseconds } => milliseconds.to_string(),
        Behaviour::Accept | Behaviour::Fail { .. } | Behaviour::Hang | Behaviour::AcceptThenCut => {
            String::new()
        }
    }
}

/// A refusal that the provider really gives.
pub(super) const fn example(via: Via) -> (u16, &'static str) {
    match via {
        Via::Smtp => (550, "5.1.1 no such user"),
        Via::Ses => (400, "MessageRejected"),
        Via::Sms => (400, "InvalidParameter"),
        Via::WebPush => (410, "gone"),
        Via::Fcm => (404, "UNREGISTERED"),
        Via::Apns => (410, "Unregistered"),
        Via::Webhook => (500, "internal error"),
    }
}

/// Reads a form.
pub(super) fn read(form: &[(String, String)]) -> Result<(Via, Plan), &'static str> {
    let field = |name: &str| {
        let found = form.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    };
    let number = |name: &str| -> Result<Option<u32>, &'static str> {
        field(name).map(|text| text.parse().map_err(|_| "not a number")).transpose()
    };
    let via = field("via").and_then(Via::named).ok_or("an unknown provider")?;
    let (code, said) = example(via);
    let amount = number("amount")?;
    let behaviour = match field("kind").unwrap_or("accept") {
        "accept" => Behaviour::Accept,
        "fail" => Behaviour::Fail {
            code: number("code")?.map_or(Ok(code), u16::try_from).map_err(|_| "not a code")?,
            said: line(field("said").unwrap_or(said)),
        },
        "throttle" => Behaviour::Throttle { retry_after_seconds: amount.unwrap_or(30) },
        "hang" => Behaviour::Hang,
        "slow" => Behaviour::Slow { milliseconds: u64::from(amount.unwrap_or(2_000)) },
        "accept-then-cut" => Behaviour::AcceptThenCut,
        _ => return Err("an unknown behaviour"),
    };
    Ok((via, Plan { behaviour, times: number("times")?.filter(|times| *times > 0) }))
}

/// It is said over protocols that count lines.
fn line(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(200).collect()
}
