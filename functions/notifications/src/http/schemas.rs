//! Shapes for the OpenAPI document of what the domain itself reads.

use std::collections::BTreeMap;

use schemars::JsonSchema;

/// The content by channel.
#[derive(JsonSchema)]
#[schemars(rename = "ChannelContents")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct ContentsSchema {
    /// In a mail.
    email: Option<EmailContentSchema>,
    /// In a text message.
    sms: Option<SmsContentSchema>,
    /// On a device.
    push: Option<PushContentSchema>,
}

/// A mail.
#[derive(JsonSchema)]
#[schemars(rename = "EmailContent")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct EmailContentSchema {
    /// One line of at most 255 characters.
    subject: String,
    /// For readers without HTML: at most 100,000 characters.
    text: String,
    /// For the others: at most 200,000 characters.
    html: Option<String>,
}

/// A text message.
#[derive(JsonSchema)]
#[schemars(rename = "SmsContent")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct SmsContentSchema {
    /// At most 1,600 characters.
    text: String,
}

/// A notification on a device: at most 3,500 bytes in all.
#[derive(JsonSchema)]
#[schemars(rename = "PushContent")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct PushContentSchema {
    /// One line of at most 200 characters.
    title: String,
    /// At most 2,000 characters.
    body: String,
    /// What opens when it is touched.
    link: Option<String>,
    /// For the app, not for the person: at most 20 entries.
    data: Option<BTreeMap<String, String>>,
}

/// An address of a device, a browser or a server.
#[derive(JsonSchema)]
#[schemars(rename = "Device", tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) enum DeviceSchema {
    /// A browser's subscription, as the Push API gives it.
    WebPush {
        /// Where its push service takes messages.
        endpoint: String,
        /// The browser's public key: base64url.
        p256dh: String,
        /// What both sides know: base64url.
        auth: String,
    },
    /// A device that Firebase knows.
    Fcm {
        /// Its registration token.
        token: String,
    },
    /// A device that Apple knows.
    Apns {
        /// Its device token: hexadecimal.
        token: String,
    },
    /// A server of the user's.
    Webhook {
        /// An `https` URL.
        url: String,
    },
}

/// When the user is not to be disturbed.
#[derive(JsonSchema)]
#[schemars(rename = "DoNotDisturb")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct DoNotDisturbSchema {
    /// When it begins, on each of its days: `22:30`.
    start: String,
    /// When it ends, maybe the day after: `07:00`.
    end: String,
    /// `mon` to `sun`; each day if left out.
    days: Option<Vec<String>>,
}

/// A version of a template, as its author writes it. Each text may use gaps, conditions, loops and a
/// few filters of Jinja.
#[derive(JsonSchema)]
#[schemars(rename = "Draft", rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct TemplateDraftSchema {
    /// What stands in for every other locale: `en`.
    default_locale: String,
    /// What has to be passed in, and is used by some text.
    required: Option<Vec<String>>,
    /// What may be passed in, and is used by some text.
    optional: Option<Vec<String>>,
    /// The content by locale; unless there is a test.
    texts: Option<BTreeMap<String, ContentsSchema>>,
    /// Variants to compare.
    test: Option<AbTestSchema>,
}

/// Variants that are compared.
#[derive(JsonSchema)]
#[schemars(rename = "Test")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct AbTestSchema {
    /// With the same name, a person gets the same variant.
    name: String,
    /// 2 to 10.
    variants: Vec<TemplateVariantSchema>,
}

/// One of the variants.
#[derive(JsonSchema)]
#[schemars(rename = "Variant")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct TemplateVariantSchema {
    /// What its results are counted under.
    name: String,
    /// How many people get it, in proportion to the others: 1 to 10,000.
    weight: u32,
    /// The content by locale.
    texts: BTreeMap<String, ContentsSchema>,
}
