//! Mail by a server of the stack's own choosing (RFC 5321).
//!
//! Guarantee: what fails before the mail is on its way is refused; once the mail is, no answer means
//! unknown. A mail carries a `Message-ID` made from the parcel's key, by which mailboxes drop a
//! second copy. A connection is kept for the next mail and asked whether it still stands.

use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use domain::Timestamp;
use domain::notifications::{Address, Class, ProviderMessage, SendOutcome};
use lettre::message::Mailbox;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use outside::{Network, TlsClient};
use parking_lot::{Mutex, MutexGuard};
use tokio::time::timeout;

use crate::Provider;
use crate::classified::{accepted, misdirected, refused};
use crate::said::cleaned;
use crate::settings::{Misconfigured, SmtpSettings};

mod classify;
mod compose;
mod connect;

use self::classify::{Stage, classify, enhanced};
use self::compose::{Composed, compose};

/// Servers hang up after five minutes, firewalls on the way earlier.
const KEPT_SECONDS: i64 = 60;
const KEPT: usize = 10;

/// A mail server.
pub struct Smtp {
    settings: SmtpSettings,
    from: Mailbox,
    reply_to: Option<Mailbox>,
    hello: ClientId,
    network: Network,
    tls: TlsClient,
    idle: Mutex<Vec<(AsyncSmtpConnection, Timestamp)>>,
}

impl Smtp {
    /// Sends through `network`. Nothing is connected yet.
    pub fn new(settings: SmtpSettings, network: Network) -> Result<Self, Misconfigured> {
        let mailbox = |setting, text: &str| {
            text.parse::<Mailbox>().map_err(|_| Misconfigured::new(setting, "not a mailbox"))
        };
        let from = mailbox("smtp.from", &settings.from)?;
        let reply_to = settings.reply_to.as_deref();
        let reply_to = reply_to.map(|text| mailbox("smtp.replyTo", text)).transpose()?;
        if settings.user.is_some() != settings.password.is_some() {
            return Err(Misconfigured::new("smtp.user", "goes with a password, and neither alone"));
        }
        let hello = ClientId::Domain(from.email.domain().to_owned());
        let tls = TlsClient::new(&network, &[]);
        Ok(Self { settings, from, reply_to, hello, network, tls, idle: Mutex::default() })
    }

    async fn send(&self, mail: &Composed, now: Timestamp, at: &Progress) -> Result<(), No> {
        let mut connection = match self.kept(now).await {
            Some(connection) => connection,
            None => self.open(at).await?,
        };
        let sent = transfer(&mut connection, &self.from, mail, at).await;
        let usable = match &sent {
            Ok(()) => true,
            Err(No::Answered { code, .. }) => {
                *code != 421 && connection.command(Rset).await.is_ok()
            }
            Err(No::Silent(_)) => false,
        };
        if usable {
            self.keep(connection, now);
        }
        sent
    }

    async fn open(&self, at: &Progress) -> Result<AsyncSmtpConnection, No> {
        at.reach(Stage::Connect);
        let mut connection = connect::open(self).await?;
        if let (Some(user), Some(password)) = (&self.settings.user, &self.settings.password) {
            at.reach(Stage::Auth);
            let credentials = Credentials::new(user.clone(), password.reveal().to_owned());
            connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await?;
        }
        Ok(connection)
    }

    async fn kept(&self, now: Timestamp) -> Option<AsyncSmtpConnection> {
        loop {
            let (mut connection, used) = self.idle().pop()?;
            let idle = now.as_second().saturating_sub(used.as_second());
            if (0..KEPT_SECONDS).contains(&idle) && connection.test_connected().await {
                return Some(connection);
            }
        }
    }

    fn keep(&self, connection: AsyncSmtpConnection, now: Timestamp) {
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push((connection, now));
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(AsyncSmtpConnection, Timestamp)>> {
        self.idle.lock()
    }
}

#[async_trait]
impl Provider for Smtp {
    fn name(&self) -> &'static str {
        "smtp"
    }

    fn takes(&self, address: &Address) -> bool {
        matches!(address, Address::Email { .. })
    }

    fn recognises_repeats(&self) -> bool {
        true
    }

    async fn send(&self, parcel: &ProviderMessage, now: Timestamp) -> SendOutcome {
        if !self.takes(&parcel.to) {
            return misdirected();
        }
        let mail = match compose(parcel, &self.from, self.reply_to.as_ref(), now) {
            Ok(mail) => mail,
            Err((class, said)) => return refused(class, said),
        };
        let at = Progress::default();
        match timeout(self.settings.timeout_ms.duration(), self.send(&mail, now, &at)).await {
            Ok(Ok(())) => accepted(Some(mail.id)),
            Ok(Err(no)) => handed(&no, at.stage(), &parcel.to),
            Err(_elapsed) => silent(at.stage(), "did not answer in time"),
        }
    }
}

/// From `MAIL` to the last dot.
async fn transfer(
    connection: &mut AsyncSmtpConnection,
    from: &Mailbox,
    mail: &Composed,
    at: &Progress,
) -> Result<(), No> {
    let utf8 = Extension::SmtpUtfEight;
    if mail.needs_utf8 && !connection.server_info().supports_feature(utf8) {
        at.reach(Stage::Rcpt);
        let text = "5.6.7 the server takes plain addresses only".to_owned();
        return Err(No::Answered { code: 553, text });
    }
    at.reach(Stage::Mail);
    let parameters = if mail.needs_utf8 { vec![MailParameter::SmtpUtfEight] } else { vec![] };
    connection.command(Mail::new(Some(from.email.clone()), parameters)).await?;
    at.reach(Stage::Rcpt);
    connection.command(Rcpt::new(mail.to.clone(), vec![])).await?;
    at.reach(Stage::Data);
    connection.command(Data).await?;
    at.reach(Stage::Body);
    connection.message(&mail.bytes).await?;
    Ok(())
}

/// How far the conversation came.
#[derive(Default)]
struct Progress(AtomicU8);

impl Progress {
    fn reach(&self, stage: Stage) {
        self.0.store(stage as u8, Ordering::Relaxed);
    }

    fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.0.load(Ordering::Relaxed))]
    }
}

/// Why there is no yes.
enum No {
    Answered { code: u16, text: String },
    Silent(&'static str),
}

impl From<Error> for No {
    fn from(error: Error) -> Self {
        let text = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        match error.status().map(u16::from) {
            Some(code) => Self::Answered { code, text },
            None if error.is_client() => Self::Silent("lacks what we need"),
            None => Self::Silent("cut the line, or does not speak SMTP"),
        }
    }
}

fn handed(no: &No, stage: Stage, to: &Address) -> SendOutcome {
    match no {
        No::Silent(how) => silent(stage, how),
        No::Answered { code, text } => {
            let class = classify(stage, *code, enhanced(text));
            refused(class, format!("{code} at {}: {}", stage.name(), cleaned(text, to)))
        }
    }
}

/// Without an answer: once the mail is on its way, it may be theirs.
fn silent(stage: Stage, how: &str) -> SendOutcome {
    let said = format!("the server {how}, at {}", stage.name());
    if stage == Stage::Body { SendOutcome::Unknown { said } } else { refused(Class::Outage, said) }
}

impl std::fmt::Debug for Smtp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Smtp").field("host", &self.settings.host).finish_non_exhaustive()
    }
}
