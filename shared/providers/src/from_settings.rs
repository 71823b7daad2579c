//! Every provider that a stack has configured.

use std::sync::Arc;

use egress::Network;

use crate::{
    Apns, Fcm, InvalidSettings, Provider, ProviderSettings, Ses, Sms, Smtp, WebPush, Webhook,
};

/// What providers send with.
#[derive(Debug, Clone)]
pub struct ProviderClients {
    /// To the internet.
    pub network: Network,
    pub ses: rest::Client,
    pub sns: aws_sdk_sns::Client,
}

/// The providers with an entry in `settings`; of two for one channel, the preferred comes first: SES
/// before SMTP.
pub fn from_settings(
    settings: ProviderSettings,
    clients: ProviderClients,
) -> Result<Vec<Arc<dyn Provider>>, InvalidSettings> {
    let ProviderClients { network, ses, sns } = clients;
    let mut providers: Vec<Arc<dyn Provider>> = Vec::new();
    if let Some(settings) = settings.ses {
        providers.push(Arc::new(Ses::new(settings, &ses)?));
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
