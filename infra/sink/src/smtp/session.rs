//! One client's conversation, one command at a time.

use std::future::pending;
use std::io;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::wire::{SIZE, Wire};
use crate::sink::Desk;
use crate::{Behaviour, Via, mail};

/// More than any mail of ours has.
const RECIPIENTS: usize = 100;

/// What has been said so far.
pub(super) struct Session<'a> {
    desk: &'a Desk,
    greeted: bool,
    mail: Option<Mail>,
}

struct Mail {
    from: String,
    to: Vec<String>,
    behaviour: Behaviour,
}

/// When a refusal is told.
#[derive(Debug, PartialEq, Eq)]
enum Moment {
    Auth,
    Mail,
    Rcpt,
    Data,
}

fn moment(code: u16) -> Moment {
    match code {
        454 | 530 | 534 | 535 | 538 => Moment::Auth,
        421 => Moment::Mail,
        450 | 550 | 551 | 553 => Moment::Rcpt,
        _ => Moment::Data,
    }
}

impl<'a> Session<'a> {
    pub(super) fn new(desk: &'a Desk) -> Self {
        Self { desk, greeted: false, mail: None }
    }

    /// Answers one line; false if it was the last.
    pub(super) async fn hear(&mut self, line: &str, wire: &mut Wire) -> io::Result<bool> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb.to_ascii_uppercase().as_str() {
            "EHLO" => {
                (self.greeted, self.mail) = (true, None);
                wire.say(&format!(
                    "250-sink.localhost\r\n250-SIZE {SIZE}\r\n250-8BITMIME\r\n250-PIPELINING\r\n\
                     250-ENHANCEDSTATUSCODES\r\n250 AUTH PLAIN LOGIN"
                ))
                .await?;
            }
            "HELO" => {
                (self.greeted, self.mail) = (true, None);
                wire.say("250 sink.localhost").await?;
            }
            "AUTH" if self.greeted => return self.auth(rest, wire).await,
            "MAIL" if self.greeted => return self.mail(rest, wire).await,
            "RCPT" => self.rcpt(rest, wire).await?,
            "DATA" => return self.data(wire).await,
            "RSET" => {
                self.mail = None;
                wire.say("250 2.0.0 Ok").await?;
            }
            "NOOP" => wire.say("250 2.0.0 Ok").await?,
            "VRFY" => wire.say("252 2.0.0 Perhaps").await?,
            "QUIT" => {
                wire.say("221 2.0.0 Bye").await?;
                return Ok(false);
            }
            "AUTH" | "MAIL" => wire.say("503 5.5.1 Say EHLO first").await?,
            _ => wire.say("502 5.5.2 Unknown command").await?,
        }
        Ok(true)
    }

    async fn auth(&mut self, rest: &str, wire: &mut Wire) -> io::Result<bool> {
        if let Behaviour::Fail { code, said } = self.desk.plans.get(Via::Smtp).behaviour
            && moment(code) == Moment::Auth
        {
            self.desk.plans.next(Via::Smtp);
            wire.say(&format!("{code} {said}")).await?;
            return Ok(true);
        }
        let (mechanism, first) = rest.split_once(' ').unwrap_or((rest, ""));
        let given = match mechanism.to_ascii_uppercase().as_str() {
            "PLAIN" => {
                let given = if first.is_empty() { ask(wire, "").await? } else { decoded(first) };
                let mut parts = given.split('\0').skip(1);
                (
                    parts.next().unwrap_or_default().to_owned(),
                    parts.next().unwrap_or_default().to_owned(),
                )
            }
            "LOGIN" => {
                let user = if first.is_empty() {
                    ask(wire, "VXNlcm5hbWU6").await?
                } else {
                    decoded(first)
                };
                (user, ask(wire, "UGFzc3dvcmQ6").await?)
            }
            _ => {
                wire.say("504 5.5.4 Unknown mechanism").await?;
                return Ok(true);
            }
        };
        let right = given == ("sink".to_owned(), self.desk.credentials.mail_password.clone());
        wire.say(if right { "235 2.7.0 Welcome" } else { "535 5.7.8 Wrong name or password" })
            .await?;
        Ok(true)
    }

    async fn mail(&mut self, rest: &str, wire: &mut Wire) -> io::Result<bool> {
        let Some(from) = path(rest, "FROM:") else {
            wire.say("501 5.5.4 Not a path").await?;
            return Ok(true);
        };
        let size =
            rest.split(' ').find_map(|word| word.strip_prefix("SIZE=")?.parse::<usize>().ok());
        if size.is_some_and(|size| size > SIZE) {
            wire.say("552 5.3.4 Too large").await?;
            return Ok(true);
        }
        let behaviour = self.desk.plans.next(Via::Smtp);
        match &behaviour {
            Behaviour::Fail { code, said } if moment(*code) == Moment::Mail => {
                wire.say(&format!("{code} {said}")).await?;
                return Ok(*code != 421);
            }
            Behaviour::Fail { code, said } if moment(*code) == Moment::Auth => {
                wire.say(&format!("{code} {said}")).await?;
                return Ok(true);
            }
            Behaviour::Throttle { retry_after_seconds } => {
                let line = format!("451 4.7.0 Try again in {retry_after_seconds} seconds");
                wire.say(&line).await?;
                return Ok(true);
            }
            Behaviour::Hang => pending().await,
            Behaviour::Accept
            | Behaviour::Fail { .. }
            | Behaviour::Slow { .. }
            | Behaviour::AcceptThenCut => {}
        }
        self.mail = Some(Mail { from, to: Vec::new(), behaviour });
        wire.say("250 2.1.0 Ok").await?;
        Ok(true)
    }

    async fn rcpt(&mut self, rest: &str, wire: &mut Wire) -> io::Result<()> {
        let Some(mail) = &mut self.mail else { return wire.say("503 5.5.1 Say MAIL first").await };
        if let Behaviour::Fail { code, said } = &mail.behaviour
            && moment(*code) == Moment::Rcpt
        {
            return wire.say(&format!("{code} {said}")).await;
        }
        match path(rest, "TO:") {
            Some(to) if !to.is_empty() && mail.to.len() < RECIPIENTS => {
                mail.to.push(to);
                wire.say("250 2.1.5 Ok").await
            }
            Some(_) => wire.say("452 4.5.3 Too many recipients").await,
            None => wire.say("501 5.5.4 Not a path").await,
        }
    }

    async fn data(&mut self, wire: &mut Wire) -> io::Result<bool> {
        let Some(mail) = self.mail.take().filter(|mail| !mail.to.is_empty()) else {
            wire.say("503 5.5.1 Say RCPT first").await?;
            return Ok(true);
        };
        wire.say("354 Go on").await?;
        let Some(raw) = wire.mail().await? else {
            wire.say("552 5.3.4 Too large").await?;
            return Ok(true);
        };
        if let Behaviour::Fail { code, said } = &mail.behaviour {
            wire.say(&format!("{code} {said}")).await?;
            return Ok(true);
        }
        let id = self.desk.keep(Via::Smtp, mail::read(&mail.from, &mail.to, &raw));
        if mail.behaviour == Behaviour::AcceptThenCut {
            return Ok(false);
        }
        if let Behaviour::Slow { milliseconds } = mail.behaviour {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        }
        wire.say(&format!("250 2.0.0 Ok: kept as {id}")).await?;
        Ok(true)
    }
}

async fn ask(wire: &mut Wire, challenge: &str) -> io::Result<String> {
    wire.say(&format!("334 {challenge}")).await?;
    Ok(decoded(&wire.line().await?.unwrap_or_default()))
}

fn decoded(text: &str) -> String {
    let bytes = STANDARD.decode(text.trim()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The address in `FROM:<address> PARAMETERS`.
fn path(rest: &str, prefix: &str) -> Option<String> {
    let start = rest.get(..prefix.len())?;
    let path = rest[prefix.len()..].trim_start().strip_prefix('<')?;
    let (address, _) = path.split_once('>')?;
    start.eq_ignore_ascii_case(prefix).then(|| address.to_owned())
}
