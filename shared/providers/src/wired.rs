//! Every provider that a stack has configured.

use std::sync::Arc;

use outside::Network;

use crate::{Apns, Fcm, Misconfigured, Provider, Ses, Settings, Sms, Smtp, WebPush, Webhook};

/// The ways out of the stack.
#[derive(Debug, Clone)]
pub struct Ways {
    /// To the internet.
    pub network: Network,
    pub ses: aws_sdk_sesv2::Client,
    pub sns: aws_sdk_sns::Client,
}

/// The providers with an entry in `settings`; of two for one channel, the one to be asked first comes
/// first: SES before SMTP.
pub fn wired(settings: Settings, ways: Ways) -> Result<Vec<Arc<dyn Provider>>, Misconfigured> {
    let Ways { network, ses, sns } = ways;
    let mut providers: Vec<Arc<dyn Provider>> = Vec::new();
    if let Some(settings) = settings.ses {
        providers.push(Arc::new(Ses::new(settings, ses)?));
    }
    if let Some(settings) = settings.smtp {
        providers.push(Arc::new(Smtp::new(settings, network.clone())?));
    }
    if let Some(settings) = settings.sms {
        providers.push(Arc::new(Sms::new(settings, sns)));
    }
    if let Some(settings) = settings.web_push {
        providers.push(Arc::new(WebPush::new(&settings, network.clone())?));
    }
    if let Some(settings) = settings.fcm {
        providers.push(Arc::new(Fcm::new(&settings, network.clone())?));
    }
    if let Some(settings) = settings.apns {
        providers.push(Arc::new(Apns::new(settings, network.clone())?));
    }
    if let Some(settings) = settings.webhook {
        providers.push(Arc::new(Webhook::new(&settings, network)?));
    }
    Ok(providers)
}
