//! How the sink treats what is sent to it: well, unless it was told otherwise.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde::Serialize;

use crate::Via;

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
        said: String,
    },
    /// It is refused for now.
    Throttle {
        /// When to come back.
        retry_after_seconds: u32,
    },
    /// There is no answer, and nothing is accepted.
    Hang,
    /// It is accepted, and the answer comes late.
    Slow { milliseconds: u64 },
    /// It is accepted, and the line is cut before the answer.
    AcceptThenCut,
}

/// For how long a behaviour lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct Plan {
    pub behaviour: Behaviour,
    /// To how many messages from now on; to all if not said.
    pub times: Option<u32>,
}

/// What each provider was told.
#[derive(Debug, Default)]
pub(crate) struct Plans(Mutex<BTreeMap<Via, Plan>>);

impl Plans {
    pub(crate) fn set(&self, via: Via, plan: Plan) {
        self.lock().insert(via, plan);
    }

    pub(crate) fn get(&self, via: Via) -> Plan {
        self.lock().get(&via).cloned().unwrap_or_default()
    }

    /// What happens to the next message, which is thereby used up.
    pub(crate) fn next(&self, via: Via) -> Behaviour {
        let mut plans = self.lock();
        let plan = plans.entry(via).or_default();
        let behaviour = plan.behaviour.clone();
        if let Some(times) = &mut plan.times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                *plan = Plan::default();
            }
        }
        behaviour
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, BTreeMap<Via, Plan>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_behaviour_for_the_next_few_ends_after_them() {
        let plans = Plans::default();
        plans.set(Via::Fcm, Plan { behaviour: Behaviour::Hang, times: Some(2) });
        let seen: Vec<_> = (0..3).map(|_| plans.next(Via::Fcm)).collect();
        assert_eq!(seen, [Behaviour::Hang, Behaviour::Hang, Behaviour::Accept]);
        assert_eq!(plans.next(Via::Apns), Behaviour::Accept);
    }

    #[test]
    fn a_behaviour_without_an_end_stays() {
        let plans = Plans::default();
        plans.set(Via::Sms, Plan { behaviour: Behaviour::AcceptThenCut, times: None });
        assert!((0..5).all(|_| plans.next(Via::Sms) == Behaviour::AcceptThenCut));
    }
}
