//! How each provider behaves, and the forms to change that.

use maud::{Markup, html};

use super::{View, badge};
use crate::{Behaviour, BehaviourRule, ProviderKind};

/// The buttons at the top.
pub(super) fn actions(view: &View<'_>) -> Markup {
    let here = view.link(view.message().map(|(message, tab)| (message.id, tab)), view.via);
    html! {
        div class="actions" {
            a class="button" href=(here) { "Refresh" }
            form method="post" action={ (view.at) "/clear" } {
                button disabled[view.messages.is_empty()] { "Clear" }
            }
        }
    }
}

/// What is shown while no message is selected.
pub(super) fn render(view: &View<'_>) -> Markup {
    html! {
        section class="controls" {
            h1 { "How providers behave" }
            p {
                "Everything sent from this machine ends here. Choose a message to read it, or have a \
                 provider fail, to see what becomes of the next ones."
            }
            @for (via, rule) in view.rules { (row(view, *via, rule)) }
            p class="hint" {
                "The same from a terminal: "
                code {
                    "curl -d via=smtp -d kind=fail -d code=550 -d 'reason=5.1.1 no such user' -d times=2 \
                     localhost:$PORT" (view.at) "/behave"
                }
            }
        }
    }
}

const KINDS: [(&str, &str); 6] = [
    ("accept", "accepts"),
    ("fail", "refuses"),
    ("throttle", "throttles"),
    ("hang", "never answers"),
    ("slow", "answers late"),
    ("accept-then-cut", "accepts, then disconnects"),
];

fn row(view: &View<'_>, via: ProviderKind, rule: &BehaviourRule) -> Markup {
    let BehaviourRule { behaviour, times } = rule;
    let (code, reason) = if let Behaviour::Fail { code, reason } = behaviour {
        (Some(*code), reason.as_str())
    } else {
        (None, "")
    };
    let (example_code, example_reason) = example(via);
    html! {
        form class=(if *behaviour == Behaviour::Accept { "plan" } else { "plan ill" })
            method="post" action={ (view.at) "/behave" } {
            input type="hidden" name="via" value=(via.name());
            (badge(via))
            label {
                span { "Behaviour" }
                select name="kind" {
                    @for (name, label) in KINDS {
                        option value=(name) selected[name == kind(behaviour)] { (label) }
                    }
                }
            }
            label {
                span { "Code" }
                input name="code" inputmode="numeric" size="4" placeholder=(example_code) value=[code];
            }
            label class="wide" {
                span { "Reason" }
                input name="reason" placeholder=(example_reason) value=(reason);
            }
            label {
                span { "Time" }
                input name="amount" inputmode="numeric" size="5" placeholder="s or ms"
                    value=[amount(behaviour)];
            }
            label {
                span { "Next" }
                input name="times" inputmode="numeric" size="3" placeholder="all" value=[*times];
            }
            button { "Set" }
        }
    }
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

fn amount(behaviour: &Behaviour) -> Option<u64> {
    match behaviour {
        Behaviour::Throttle { retry_after_seconds } => Some(u64::from(*retry_after_seconds)),
        Behaviour::Slow { milliseconds } => Some(*milliseconds),
        Behaviour::Accept | Behaviour::Fail { .. } | Behaviour::Hang | Behaviour::AcceptThenCut => {
            None
        }
    }
}

/// A refusal that the provider really gives.
pub(super) const fn example(via: ProviderKind) -> (u16, &'static str) {
    match via {
        ProviderKind::Smtp => (550, "5.1.1 no such user"),
        ProviderKind::Ses => (400, "MessageRejected"),
        ProviderKind::Sms => (400, "InvalidParameter"),
        ProviderKind::WebPush => (410, "gone"),
        ProviderKind::Fcm => (404, "UNREGISTERED"),
        ProviderKind::Apns => (410, "Unregistered"),
        ProviderKind::Webhook => (500, "internal error"),
    }
}

pub(super) fn parse_form(
    form: &[(String, String)],
) -> Result<(ProviderKind, BehaviourRule), &'static str> {
    let field = |name: &str| {
        let found = form.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    };
    let number = |name: &str| -> Result<Option<u32>, &'static str> {
        field(name).map(|text| text.parse().map_err(|_| "not a number")).transpose()
    };
    let via = field("via").and_then(ProviderKind::from_name).ok_or("an unknown provider")?;
    let (code, reason) = example(via);
    let amount = number("amount")?;
    let behaviour = match field("kind").unwrap_or("accept") {
        "accept" => Behaviour::Accept,
        "fail" => Behaviour::Fail {
            code: number("code")?.map_or(Ok(code), u16::try_from).map_err(|_| "not a code")?,
            // `said` is the field's old name.
            reason: single_line(field("reason").or(field("said")).unwrap_or(reason)),
        },
        "throttle" => Behaviour::Throttle { retry_after_seconds: amount.unwrap_or(30) },
        "hang" => Behaviour::Hang,
        "slow" => Behaviour::Slow { milliseconds: u64::from(amount.unwrap_or(2_000)) },
        "accept-then-cut" => Behaviour::AcceptThenCut,
        _ => return Err("an unknown behaviour"),
    };
    Ok((via, BehaviourRule { behaviour, times: number("times")?.filter(|times| *times > 0) }))
}

/// Some protocols frame replies by lines.
fn single_line(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(200).collect()
}
