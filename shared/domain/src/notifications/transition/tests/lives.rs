//! Whole lives: an honest provider, nodes that crash, callers who change their minds.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone, Copy)]
enum Turn {
    Send(Answer),
    Late(u32, Answer),
    Check,
    Defer,
    Suppress,
    Dead,
    Withdraw,
    OptOut,
    Callback(CallbackKind),
    Replay(u8),
    Release,
}

/// What the provider does with a message, and what the node gets to write about it.
#[derive(Debug, Clone, Copy)]
enum Answer {
    Yes,
    No(Class),
    /// Accepted, or not, and the node can't tell.
    Cut(bool),
    /// Accepted, or not, and the node dies before it writes.
    Crash(bool),
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        Just(Answer::Yes),
        proptest::sample::select(Class::ALL.to_vec()).prop_map(Answer::No),
        any::<bool>().prop_map(Answer::Cut),
        any::<bool>().prop_map(Answer::Crash),
    ]
}

fn kind() -> impl Strategy<Value = CallbackKind> {
    prop_oneof![
        Just(CallbackKind::Delivered),
        any::<bool>().prop_map(|hard| CallbackKind::Bounced { hard }),
        Just(CallbackKind::Complained),
    ]
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        8 => answer().prop_map(Turn::Send),
        2 => (1_u32..8, answer()).prop_map(|(attempt, answer)| Turn::Late(attempt, answer)),
        3 => Just(Turn::Check),
        1 => Just(Turn::Defer),
        1 => Just(Turn::Suppress),
        1 => Just(Turn::Dead),
        1 => Just(Turn::Withdraw),
        1 => Just(Turn::OptOut),
        2 => kind().prop_map(Turn::Callback),
        1 => (0_u8..3).prop_map(Turn::Replay),
        1 => Just(Turn::Release),
    ]
}

/// A delivery and what really happened.
struct Life {
    delivery: Delivery,
    seconds: i64,
    handed_over: u32,
    /// Attempts whose outcome was not recorded.
    doubts: u32,
    /// Attempts whose node died, and what the provider had said to it.
    silent: Vec<(u32, bool)>,
    /// Real attempts since the beginning or the last replay.
    tries: u32,
    opted_out: bool,
}

impl Life {
    fn apply(&mut self, event: &Event) -> Result<bool, TestCaseError> {
        let before = self.delivery.clone();
        let Transition::Changed(next) = transition(&before, event, at(self.seconds)) else {
            return Ok(false);
        };
        self.delivery = *next;
        let next = &self.delivery;
        prop_assert_eq!(next.version, before.version + 1);
        prop_assert!(next.attempt >= before.attempt);
        prop_assert_eq!(next.ended_at.is_some(), next.status.is_final());
        prop_assert_eq!(next.claimed_at.is_some(), next.status == Status::Sending);
        let open =
            next.attempts.iter().filter(|entry| entry.outcome == AttemptOutcome::Open).count();
        prop_assert!(next.status != Status::Sending || open >= 1);
        prop_assert!(
            next.status == Status::Delivered
                || next.status == Status::Sending
                || next.status == Status::Pending
                || next.reason.is_some(),
            "an end has a reason"
        );
        Ok(true)
    }

    fn send(&mut self, answer: Answer) -> Result<(), TestCaseError> {
        self.seconds = self.seconds.max(self.delivery.ready_at.as_second() - at(0).as_second() + 1);
        let attempt = self.delivery.attempt + 1;
        let doubts = self.delivery.uncertain;
        if !self.apply(&claim(attempt))? {
            return Ok(());
        }
        prop_assert!(!self.opted_out, "claimed after an opt-out");
        self.tries += 1;
        prop_assert!(self.tries <= 5, "a sixth attempt");
        prop_assert!(self.handed_over == 0 || doubts > 0, "handed over twice and no doubt");
        let accepted = matches!(answer, Answer::Yes | Answer::Cut(true) | Answer::Crash(true));
        self.handed_over += u32::from(accepted);
        match answer {
            Answer::Yes => self.apply(&accept(attempt))?,
            Answer::No(class) => self.apply(&refuse(attempt, class))?,
            Answer::Cut(_) => {
                self.doubts += 1;
                self.apply(&unsure(attempt))?
            }
            Answer::Crash(accepted) => {
                self.doubts += 1;
                self.silent.push((attempt, accepted));
                true
            }
        };
        Ok(())
    }

    /// A node that was taken for dead says what the provider had told it.
    fn late(&mut self, attempt: u32, answer: Answer) -> Result<(), TestCaseError> {
        if let Some((_, accepted)) = self.silent.iter().find(|(number, _)| *number == attempt) {
            let class = if let Answer::No(class) = answer { class } else { Class::Outage };
            let event = if *accepted { accept(attempt) } else { refuse(attempt, class) };
            self.apply(&event)?;
        }
        Ok(())
    }

    fn take(&mut self, turn: Turn) -> Result<(), TestCaseError> {
        let reason = Reason::Cancelled;
        match turn {
            Turn::Send(answer) => return self.send(answer),
            Turn::Late(attempt, answer) => return self.late(attempt, answer),
            Turn::Check => {
                self.seconds += CLAIM_SECONDS + 1;
                self.apply(&Event::ClaimChecked { jitter: 7 })?;
            }
            Turn::Defer => {
                let until = at(self.seconds + 30);
                self.apply(&Event::Deferred { until, reason: Reason::DoNotDisturb })?;
            }
            Turn::Suppress => drop(self.apply(&Event::Suppressed { reason: Reason::AddressGone })?),
            Turn::Dead => {
                let event =
                    Event::DeadLettered { class: Class::Outage, reason: Reason::NoProvider };
                self.apply(&event)?;
            }
            Turn::Withdraw => drop(self.apply(&Event::Withdrawn { reason })?),
            Turn::OptOut => {
                // What waits is withdrawn; a claim fails from then on, as the store's condition does.
                self.apply(&Event::Withdrawn { reason })?;
                self.opted_out = self.delivery.withdrawn.is_some();
            }
            // A provider tells the truth, of what it was given.
            Turn::Callback(kind) if self.handed_over > 0 => {
                self.apply(&Event::CalledBack { kind, at: at(self.seconds) })?;
            }
            Turn::Callback(_) => {}
            Turn::Replay(name) => {
                let known = self.delivery.status;
                if self.apply(&Event::Replayed { replay: name.to_string() })? {
                    prop_assert_eq!(known, Status::Failed);
                    (self.tries, self.handed_over) = (0, 0);
                }
            }
            Turn::Release => {
                self.seconds =
                    self.seconds.max(self.delivery.ready_at.as_second() - at(0).as_second() + 1);
                let attempt = self.delivery.attempt + 1;
                if !self.opted_out && self.apply(&claim(attempt))? {
                    let until = at(self.seconds);
                    self.apply(&Event::Released { attempt, until, reason: Reason::DoNotDisturb })?;
                }
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn in_every_life_deliveries_stay_sound_and_the_accounts_balance(
        channel in proptest::sample::select(Channel::ALL.to_vec()),
        turns in proptest::collection::vec(turn(), 0..40),
    ) {
        let mut life = Life {
            delivery: accepted(channel),
            seconds: 0,
            handed_over: 0,
            doubts: 0,
            silent: Vec::new(),
            tries: 0,
            opted_out: false,
        };
        for turn in turns {
            life.take(turn)?;
            prop_assert!(channel != Channel::Sms || life.handed_over <= 1, "one text message");
        }
        // At the end nothing is on its way.
        for _ in 0..20 {
            life.seconds += CLAIM_SECONDS + 1;
            life.apply(&Event::ClaimChecked { jitter: 1 })?;
            if life.delivery.status == Status::Pending {
                if life.opted_out {
                    life.apply(&Event::Suppressed { reason: Reason::AddressGone })?;
                } else {
                    life.send(Answer::No(Class::Outage))?;
                }
            }
        }
        let status = life.delivery.status;
        prop_assert!(status.is_final(), "{status:?}");
        let bounced = life.delivery.bounced_at.is_some();
        if life.handed_over > 0 && !bounced {
            prop_assert!(matches!(status, Status::Delivered | Status::Unknown), "{status:?}");
        }
        if status == Status::Delivered {
            prop_assert!(life.handed_over > 0);
        }
        if status == Status::Unknown {
            prop_assert!(life.doubts > 0);
        }
        let json = serde_json::to_string(&life.delivery).unwrap();
        prop_assert_eq!(serde_json::from_str::<Delivery>(&json).unwrap(), life.delivery);
    }
}
