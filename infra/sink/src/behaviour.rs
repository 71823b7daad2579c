//! How the sink answers: it accepts, unless a behaviour is scripted.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde::Serialize;

use crate::ProviderKind;

/// What happens to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Behaviour {
    /// It is accepted.
    #[default]
    Accept,
    /// It is refused. Over SMTP, the code decides when: 454, 530, 534, 535 and 538 at `AUTH`; 421 at
    /// `MAIL`; 450, 550, 551 and 553 at `RCPT`; the others after the message.
    Fail {
        /// The status, as the protocol has it.
        code: u16,
        /// The reason, as the provider words it: `BadDeviceToken`, `UNREGISTERED`, `5.1.1 …`.
        reason: String,
    },
    /// It is refused for now.
    Throttle { retry_after_seconds: u32 },
    /// There is no answer, and nothing is accepted.
    Hang,
    /// It is accepted, and the answer comes late.
    Slow { milliseconds: u64 },
    /// It is accepted, and the connection is closed before the answer.
    AcceptThenCut,
}

/// A behaviour and how long it lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct BehaviourRule {
    pub behaviour: Behaviour,
    /// How many more messages it applies to; all if `None`.
    pub times: Option<u32>,
}

/// The scripted behaviour of each provider.
#[derive(Debug, Default)]
pub(crate) struct BehaviourRules(Mutex<BTreeMap<ProviderKind, BehaviourRule>>);

impl BehaviourRules {
    pub(crate) fn set(&self, via: ProviderKind, rule: BehaviourRule) {
        self.lock().insert(via, rule);
    }

    pub(crate) fn get(&self, via: ProviderKind) -> BehaviourRule {
        self.lock().get(&via).cloned().unwrap_or_default()
    }

    /// The behaviour for the next message, which counts against its `times`.
    pub(crate) fn take_next(&self, via: ProviderKind) -> Behaviour {
        let mut rules = self.lock();
        let rule = rules.entry(via).or_default();
        let behaviour = rule.behaviour.clone();
        if let Some(times) = &mut rule.times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                *rule = BehaviourRule::default();
            }
        }
        behaviour
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, BTreeMap<ProviderKind, BehaviourRule>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_behaviour_for_the_next_few_ends_after_them() {
        let rules = BehaviourRules::default();
        rules.set(ProviderKind::Fcm, BehaviourRule { behaviour: Behaviour::Hang, times: Some(2) });
        let seen: Vec<_> = (0..3).map(|_| rules.take_next(ProviderKind::Fcm)).collect();
        assert_eq!(seen, [Behaviour::Hang, Behaviour::Hang, Behaviour::Accept]);
        assert_eq!(rules.take_next(ProviderKind::Apns), Behaviour::Accept);
    }

    #[test]
    fn a_behaviour_without_an_end_stays() {
        let rules = BehaviourRules::default();
        rules.set(
            ProviderKind::Sms,
            BehaviourRule { behaviour: Behaviour::AcceptThenCut, times: None },
        );
        assert!((0..5).all(|_| rules.take_next(ProviderKind::Sms) == Behaviour::AcceptThenCut));
    }
}
