//! What a mail server's refusal means: by its stage, its reply code, and its enhanced status code (RFC 3463).

use domain::notifications::Class;

/// The stages of an SMTP transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Connect = 0,
    Auth = 1,
    Mail = 2,
    Rcpt = 3,
    Data = 4,
    /// The mail itself, up to its last dot: from here on the server may have it.
    Body = 5,
}

impl Stage {
    pub(super) const ALL: [Self; 6] =
        [Self::Connect, Self::Auth, Self::Mail, Self::Rcpt, Self::Data, Self::Body];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Connect => "EHLO",
            Self::Auth => "AUTH",
            Self::Mail => "MAIL",
            Self::Rcpt => "RCPT",
            Self::Data => "DATA",
            Self::Body => "the end of the mail",
        }
    }
}

/// Class, subject and detail, as in 5.1.1.
pub(super) type EnhancedCode = (u8, u16, u16);

/// The enhanced code at the start of an answer's text.
pub(super) fn enhanced_code(text: &str) -> Option<EnhancedCode> {
    let mut parts = text.split_whitespace().next()?.splitn(3, '.');
    let code =
        (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    matches!(code.0, 2 | 4 | 5).then_some(code)
}

pub(super) fn classify(stage: Stage, code: u16, enhanced: Option<EnhancedCode>) -> Class {
    // Before a recipient was named it can only be about us, or about the server.
    if matches!(stage, Stage::Connect | Stage::Auth) {
        return Class::Outage;
    }
    let about = enhanced.map(|(_, subject, detail)| (subject, detail));
    match (code, about) {
        // Security and policy, for now: greylisting and limits use these codes.
        (421 | 450 | 451 | 452, Some((7, _))) | (450 | 452, _) => Class::RateLimited,
        // The server is down, or does not accept our sender.
        (400..500 | 530 | 534 | 535 | 538, _) | (500.., Some((1, 7 | 8))) => Class::Outage,
        (500.., _) if stage == Stage::Mail && code != 552 => Class::Outage,
        // A full mailbox may be emptied.
        (500.., Some((2, 2))) => Class::Unrecognised,
        (500.., Some((1, _) | (2, 1) | (6, 7))) => Class::InvalidRecipient,
        (550 | 551 | 553, None | Some((0 | 2, _))) if stage == Stage::Rcpt => {
            Class::InvalidRecipient
        }
        (550..=554, _) => Class::Content,
        _ => Class::Unrecognised,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_no_has_a_class() {
        use Class::{Content, InvalidRecipient, Outage, RateLimited, Unrecognised};
        for (stage, code, text, class) in [
            (Stage::Connect, 421, "too many connections", Outage),
            (Stage::Connect, 554, "5.7.1 not you", Outage),
            (Stage::Auth, 535, "5.7.8 bad credentials", Outage),
            (Stage::Auth, 454, "4.7.0 later", Outage),
            (Stage::Mail, 421, "4.3.2 shutting down", Outage),
            (Stage::Mail, 421, "4.7.0 too many", RateLimited),
            (Stage::Mail, 451, "4.7.0 slow down", RateLimited),
            (Stage::Mail, 451, "4.3.0 local error", Outage),
            (Stage::Mail, 452, "4.3.1 no space", RateLimited),
            (Stage::Mail, 530, "5.7.0 authenticate", Outage),
            (Stage::Mail, 550, "5.7.1 sender rejected", Outage),
            (Stage::Mail, 553, "5.1.8 no such sender domain", Outage),
            (Stage::Mail, 552, "5.3.4 too large", Content),
            (Stage::Rcpt, 450, "4.2.0 greylisted", RateLimited),
            (Stage::Rcpt, 450, "", RateLimited),
            (Stage::Rcpt, 451, "try later", Outage),
            (Stage::Rcpt, 550, "5.1.1 no such user", InvalidRecipient),
            (Stage::Rcpt, 550, "no such user", InvalidRecipient),
            (Stage::Rcpt, 550, "5.2.1 disabled", InvalidRecipient),
            (Stage::Rcpt, 550, "5.7.1 blocked", Content),
            (Stage::Rcpt, 551, "5.1.6 moved", InvalidRecipient),
            (Stage::Rcpt, 553, "5.1.3 bad syntax", InvalidRecipient),
            (Stage::Rcpt, 552, "5.2.2 mailbox full", Unrecognised),
            (Stage::Rcpt, 553, "5.6.7 plain addresses only", InvalidRecipient),
            (Stage::Rcpt, 554, "5.1.1 gone", InvalidRecipient),
            (Stage::Body, 550, "5.1.1 no such user", InvalidRecipient),
            (Stage::Body, 550, "spam", Content),
            (Stage::Body, 552, "5.3.4 too large", Content),
            (Stage::Body, 554, "5.7.1 spam", Content),
            (Stage::Body, 554, "no", Content),
            (Stage::Body, 451, "4.3.0 later", Outage),
            (Stage::Data, 503, "5.5.1 bad sequence", Unrecognised),
            (Stage::Rcpt, 500, "what", Unrecognised),
        ] {
            assert_eq!(
                classify(stage, code, enhanced_code(text)),
                class,
                "{stage:?} {code} {text}"
            );
        }
    }

    #[test]
    fn an_enhanced_code_stands_at_the_start() {
        assert_eq!(enhanced_code("5.1.1 no such user"), Some((5, 1, 1)));
        assert_eq!(enhanced_code("4.7.650 later"), Some((4, 7, 650)));
        for text in ["", "no 5.1.1", "5.1 x", "3.1.1 x", "5.1.x", "192.0.2.1 x"] {
            assert_eq!(enhanced_code(text), None, "{text}");
        }
    }

    #[test]
    fn stages_are_found_by_their_number() {
        for stage in Stage::ALL {
            assert_eq!(Stage::ALL[usize::from(stage as u8)], stage);
        }
    }
}
