//! One client's SMTP session, one command at a time.
//!
//! By hand: no server crate lets a reply be scripted, delayed or withheld (the handlers of mailin are synchronous,
//! samotop needs async-std), and smtp-proto would replace only the lines that split a command.

use std::future::pending;
use std::io;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::stream::{MAX_MAIL_BYTES, SmtpStream};
use crate::sink::SinkState;
use crate::{Behaviour, ProviderKind, mail};

/// More than any mail of a stack has.
const MAX_RECIPIENTS: usize = 100;

pub(super) struct Session<'a> {
    state: &'a SinkState,
    greeted: bool,
    mail: Option<Mail>,
}

struct Mail {
    from: String,
    to: Vec<String>,
    behaviour: Behaviour,
}

/// The command that a scripted refusal answers.
#[derive(Debug, PartialEq, Eq)]
enum RefusalStage {
    Auth,
    Mail,
    Rcpt,
    Data,
}

fn refusal_stage(code: u16) -> RefusalStage {
    match code {
        454 | 530 | 534 | 535 | 538 => RefusalStage::Auth,
        421 => RefusalStage::Mail,
        450 | 550 | 551 | 553 => RefusalStage::Rcpt,
        _ => RefusalStage::Data,
    }
}

impl<'a> Session<'a> {
    pub(super) fn new(state: &'a SinkState) -> Self {
        Self { state, greeted: false, mail: None }
    }

    /// Answers one command; false if the session ends.
    pub(super) async fn handle(&mut self, line: &str, stream: &mut SmtpStream) -> io::Result<bool> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb.to_ascii_uppercase().as_str() {
            "EHLO" => {
                (self.greeted, self.mail) = (true, None);
                stream.reply(&format!(
                    "250-sink.localhost\r\n250-SIZE {MAX_MAIL_BYTES}\r\n250-8BITMIME\r\n250-PIPELINING\r\n\
                     250-ENHANCEDSTATUSCODES\r\n250 AUTH PLAIN LOGIN"
                ))
                .await?;
            }
            "HELO" => {
                (self.greeted, self.mail) = (true, None);
                stream.reply("250 sink.localhost").await?;
            }
            "AUTH" if self.greeted => return self.auth(rest, stream).await,
            "MAIL" if self.greeted => return self.mail(rest, stream).await,
            "RCPT" => self.rcpt(rest, stream).await?,
            "DATA" => return self.data(stream).await,
            "RSET" => {
                self.mail = None;
                stream.reply("250 2.0.0 Ok").await?;
            }
            "NOOP" => stream.reply("250 2.0.0 Ok").await?,
            "VRFY" => stream.reply("252 2.0.0 Perhaps").await?,
            "QUIT" => {
                stream.reply("221 2.0.0 Bye").await?;
                return Ok(false);
            }
            "AUTH" | "MAIL" => stream.reply("503 5.5.1 Say EHLO first").await?,
            _ => stream.reply("502 5.5.2 Unknown command").await?,
        }
        Ok(true)
    }

    async fn auth(&mut self, rest: &str, stream: &mut SmtpStream) -> io::Result<bool> {
        if let Behaviour::Fail { code, reason } = self.state.rules.get(ProviderKind::Smtp).behaviour
            && refusal_stage(code) == RefusalStage::Auth
        {
            self.state.rules.take_next(ProviderKind::Smtp);
            stream.reply(&format!("{code} {reason}")).await?;
            return Ok(true);
        }
        let (mechanism, first) = rest.split_once(' ').unwrap_or((rest, ""));
        let credentials = match mechanism.to_ascii_uppercase().as_str() {
            "PLAIN" => {
                let credentials = if first.is_empty() {
                    challenge(stream, "").await?
                } else {
                    decode_base64(first)
                };
                let mut parts = credentials.split('\0').skip(1);
                (
                    parts.next().unwrap_or_default().to_owned(),
                    parts.next().unwrap_or_default().to_owned(),
                )
            }
            "LOGIN" => {
                let user = if first.is_empty() {
                    challenge(stream, "VXNlcm5hbWU6").await?
                } else {
                    decode_base64(first)
                };
                (user, challenge(stream, "UGFzc3dvcmQ6").await?)
            }
            _ => {
                stream.reply("504 5.5.4 Unknown mechanism").await?;
                return Ok(true);
            }
        };
        let valid =
            credentials == ("sink".to_owned(), self.state.credentials.mail_password.clone());
        stream
            .reply(if valid { "235 2.7.0 Welcome" } else { "535 5.7.8 Wrong name or password" })
            .await?;
        Ok(true)
    }

    async fn mail(&mut self, rest: &str, stream: &mut SmtpStream) -> io::Result<bool> {
        let Some(from) = path(rest, "FROM:") else {
            stream.reply("501 5.5.4 Not a path").await?;
            return Ok(true);
        };
        let size =
            rest.split(' ').find_map(|word| word.strip_prefix("SIZE=")?.parse::<usize>().ok());
        if size.is_some_and(|size| size > MAX_MAIL_BYTES) {
            stream.reply("552 5.3.4 Too large").await?;
            return Ok(true);
        }
        let behaviour = self.state.rules.take_next(ProviderKind::Smtp);
        match &behaviour {
            Behaviour::Fail { code, reason } if refusal_stage(*code) == RefusalStage::Mail => {
                stream.reply(&format!("{code} {reason}")).await?;
                return Ok(*code != 421);
            }
            Behaviour::Fail { code, reason } if refusal_stage(*code) == RefusalStage::Auth => {
                stream.reply(&format!("{code} {reason}")).await?;
                return Ok(true);
            }
            Behaviour::Throttle { retry_after_seconds } => {
                let line = format!("451 4.7.0 Try again in {retry_after_seconds} seconds");
                stream.reply(&line).await?;
                return Ok(true);
            }
            Behaviour::Hang => pending().await,
            Behaviour::Accept
            | Behaviour::Fail { .. }
            | Behaviour::Slow { .. }
            | Behaviour::AcceptThenCut => {}
        }
        self.mail = Some(Mail { from, to: Vec::new(), behaviour });
        stream.reply("250 2.1.0 Ok").await?;
        Ok(true)
    }

    async fn rcpt(&mut self, rest: &str, stream: &mut SmtpStream) -> io::Result<()> {
        let Some(mail) = &mut self.mail else {
            return stream.reply("503 5.5.1 Say MAIL first").await;
        };
        if let Behaviour::Fail { code, reason } = &mail.behaviour
            && refusal_stage(*code) == RefusalStage::Rcpt
        {
            return stream.reply(&format!("{code} {reason}")).await;
        }
        match path(rest, "TO:") {
            Some(to) if !to.is_empty() && mail.to.len() < MAX_RECIPIENTS => {
                mail.to.push(to);
                stream.reply("250 2.1.5 Ok").await
            }
            Some(_) => stream.reply("452 4.5.3 Too many recipients").await,
            None => stream.reply("501 5.5.4 Not a path").await,
        }
    }

    async fn data(&mut self, stream: &mut SmtpStream) -> io::Result<bool> {
        let Some(mail) = self.mail.take().filter(|mail| !mail.to.is_empty()) else {
            stream.reply("503 5.5.1 Say RCPT first").await?;
            return Ok(true);
        };
        stream.reply("354 Go on").await?;
        let Some(raw) = stream.mail().await? else {
            stream.reply("552 5.3.4 Too large").await?;
            return Ok(true);
        };
        if let Behaviour::Fail { code, reason } = &mail.behaviour {
            stream.reply(&format!("{code} {reason}")).await?;
            return Ok(true);
        }
        let id = self.state.store(ProviderKind::Smtp, mail::read(&mail.from, &mail.to, &raw));
        if mail.behaviour == Behaviour::AcceptThenCut {
            return Ok(false);
        }
        if let Behaviour::Slow { milliseconds } = mail.behaviour {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        }
        stream.reply(&format!("250 2.0.0 Ok: stored as {id}")).await?;
        Ok(true)
    }
}

async fn challenge(stream: &mut SmtpStream, challenge: &str) -> io::Result<String> {
    stream.reply(&format!("334 {challenge}")).await?;
    Ok(decode_base64(&stream.line().await?.unwrap_or_default()))
}

fn decode_base64(text: &str) -> String {
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
