//! Mail by a server of the stack's own choosing (RFC 5321).
//!
//! Guarantee: what fails before the mail is on its way is refused; once the mail is, no reply means
//! unknown. A mail carries a `Message-ID` made from the message's key, by which mailboxes drop a
//! second copy. A connection is kept for the next mail, and tested with NOOP before that.

use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use domain::Timestamp;
use domain::notifications::{Address, Class, ProviderMessage, SendOutcome};
use egress::{IdleConnections, Network, TlsClient};
use lettre::message::Mailbox;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use tokio::time::timeout;

use crate::Provider;
use crate::outcome::{accepted, refused, unknown, unsupported_address};
use crate::redact::redact;
use crate::settings::{InvalidSettings, SmtpSettings};

mod classify;
mod compose;
mod connect;

use self::classify::{Stage, classify, enhanced_code};
use self::compose::{ComposedMail, compose};

/// A mail server.
pub struct Smtp {
    settings: SmtpSettings,
    from: Mailbox,
    reply_to: Option<Mailbox>,
    client_id: ClientId,
    network: Network,
    tls: TlsClient,
    idle: IdleConnections<AsyncSmtpConnection>,
}

impl Smtp {
    /// Sends through `network`. Nothing is connected yet.
    pub fn new(settings: SmtpSettings, network: Network) -> Result<Self, InvalidSettings> {
        let mailbox = |setting, text: &str| {
            text.parse::<Mailbox>().map_err(|_| InvalidSettings::new(setting, "not a mailbox"))
        };
        let from = mailbox("smtp.from", &settings.from)?;
        let reply_to = settings.reply_to.as_deref();
        let reply_to = reply_to.map(|text| mailbox("smtp.replyTo", text)).transpose()?;
        if settings.user.is_some() != settings.password.is_some() {
            return Err(InvalidSettings::new(
                "smtp.user",
                "goes with a password, and neither alone",
            ));
        }
        let client_id = ClientId::Domain(from.email.domain().to_owned());
        let tls = TlsClient::new(&network, &[]);
        Ok(Self {
            settings,
            from,
            reply_to,
            client_id,
            network,
            tls,
            idle: IdleConnections::default(),
        })
    }

    async fn deliver(
        &self,
        mail: &ComposedMail,
        now: Timestamp,
        at: &Progress,
    ) -> Result<(), SmtpFailure> {
        let mut connection = match self.idle_connection(now).await {
            Some(connection) => connection,
            None => self.connect(at).await?,
        };
        let sent = transfer(&mut connection, &self.from, mail, at).await;
        let usable = match &sent {
            Ok(()) => true,
            Err(SmtpFailure::Replied { code, .. }) => {
                *code != 421 && connection.command(Rset).await.is_ok()
            }
            Err(SmtpFailure::NoReply(_)) => false,
        };
        if usable {
            self.idle.put(connection, now);
        }
        sent
    }

    async fn connect(&self, at: &Progress) -> Result<AsyncSmtpConnection, SmtpFailure> {
        at.enter(Stage::Connect);
        let mut connection = connect::connect(self).await?;
        if let (Some(user), Some(password)) = (&self.settings.user, &self.settings.password) {
            at.enter(Stage::Auth);
            let credentials = Credentials::new(user.clone(), password.reveal().to_owned());
            connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await?;
        }
        Ok(connection)
    }

    async fn idle_connection(&self, now: Timestamp) -> Option<AsyncSmtpConnection> {
        while let Some(mut connection) = self.idle.take(now) {
            if connection.test_connected().await {
                return Some(connection);
            }
        }
        None
    }
}

#[async_trait]
impl Provider for Smtp {
    fn name(&self) -> &'static str {
        "smtp"
    }

    fn supports(&self, address: &Address) -> bool {
        matches!(address, Address::Email { .. })
    }

    async fn send(&self, message: &ProviderMessage, now: Timestamp) -> SendOutcome {
        if !self.supports(&message.to) {
            return unsupported_address();
        }
        let mail = match compose(message, &self.from, self.reply_to.as_ref(), now) {
            Ok(mail) => mail,
            Err((class, reason)) => return refused(class, reason),
        };
        let at = Progress::default();
        match timeout(self.settings.timeout_ms.duration(), self.deliver(&mail, now, &at)).await {
            Ok(Ok(())) => accepted(Some(mail.id)),
            Ok(Err(failure)) => outcome(&failure, at.stage(), &message.to),
            Err(_elapsed) => no_reply(at.stage(), "did not answer in time"),
        }
    }
}

/// From `MAIL` to the last dot.
async fn transfer(
    connection: &mut AsyncSmtpConnection,
    from: &Mailbox,
    mail: &ComposedMail,
    at: &Progress,
) -> Result<(), SmtpFailure> {
    let utf8 = Extension::SmtpUtfEight;
    if mail.needs_utf8 && !connection.server_info().supports_feature(utf8) {
        at.enter(Stage::Rcpt);
        let text = "5.6.7 the server takes plain addresses only".to_owned();
        return Err(SmtpFailure::Replied { code: 553, text });
    }
    at.enter(Stage::Mail);
    let parameters = if mail.needs_utf8 { vec![MailParameter::SmtpUtfEight] } else { vec![] };
    connection.command(Mail::new(Some(from.email.clone()), parameters)).await?;
    at.enter(Stage::Rcpt);
    connection.command(Rcpt::new(mail.to.clone(), vec![])).await?;
    at.enter(Stage::Data);
    connection.command(Data).await?;
    at.enter(Stage::Body);
    connection.message(&mail.bytes).await?;
    Ok(())
}

/// The stage that the SMTP transaction has reached.
#[derive(Default)]
struct Progress(AtomicU8);

impl Progress {
    fn enter(&self, stage: Stage) {
        self.0.store(stage as u8, Ordering::Relaxed);
    }

    fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.0.load(Ordering::Relaxed))]
    }
}

enum SmtpFailure {
    Replied { code: u16, text: String },
    NoReply(&'static str),
}

impl From<Error> for SmtpFailure {
    fn from(error: Error) -> Self {
        let text = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        match error.status().map(u16::from) {
            Some(code) => Self::Replied { code, text },
            None if error.is_client() => Self::NoReply("lacks what we need"),
            None => Self::NoReply("closed the connection, or does not speak SMTP"),
        }
    }
}

fn outcome(failure: &SmtpFailure, stage: Stage, to: &Address) -> SendOutcome {
    match failure {
        SmtpFailure::NoReply(how) => no_reply(stage, how),
        SmtpFailure::Replied { code, text } => {
            let class = classify(stage, *code, enhanced_code(text));
            refused(class, format!("{code} at {}: {}", stage.name(), redact(text, to)))
        }
    }
}

/// Without a reply: once the mail is on its way, the server may have it.
fn no_reply(stage: Stage, how: &str) -> SendOutcome {
    let reason = format!("the server {how}, at {}", stage.name());
    if stage == Stage::Body { unknown(reason) } else { refused(Class::Outage, reason) }
}
