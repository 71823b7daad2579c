//! Reads `AWS::Serverless::HttpApi`.

use crate::error::TemplateError;
use crate::field::Field;
use crate::stack::build::Item;
use crate::vocabulary;

/// An HTTP API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpApi {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Its id, which routes name.
    pub id: String,
    /// The stage; `$default` is the one without a path prefix.
    pub stage: String,
    /// What browsers of other origins may do; `None` is nothing.
    pub cors: Option<Cors>,
    /// How many requests may come at once.
    pub throttling_burst: Option<u64>,
    /// How many requests per second may come on average.
    pub throttling_rate: Option<u64>,
    /// The line of its key.
    pub line: usize,
}

/// What browsers of other origins may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cors {
    /// From which origins.
    pub allow_origins: Vec<String>,
    /// With which methods.
    pub allow_methods: Vec<String>,
    /// With which request headers.
    pub allow_headers: Vec<String>,
    /// Which response headers scripts see.
    pub expose_headers: Vec<String>,
    /// Whether with cookies.
    pub allow_credentials: bool,
    /// How long the answer to a preflight holds.
    pub max_age_seconds: Option<u64>,
}

pub(crate) fn read(item: &Item<'_>) -> Result<HttpApi, TemplateError> {
    let properties = &item.properties;
    properties.only(&[vocabulary::GLOBAL_HTTP_API, vocabulary::OWN_HTTP_API].concat())?;
    let settings = properties.get("DefaultRouteSettings")?;
    let limit = |key: &str| -> Result<Option<u64>, TemplateError> {
        let Some(settings) = &settings else {
            return Ok(None);
        };
        settings.number_at(key, 0..=u64::MAX)
    };
    Ok(HttpApi {
        logical_id: item.id(),
        id: item.name.clone(),
        stage: properties.text_at("StageName")?.unwrap_or_else(|| "$default".to_owned()),
        cors: properties.get("CorsConfiguration")?.map(|field| cors(&field)).transpose()?,
        throttling_burst: limit("ThrottlingBurstLimit")?,
        throttling_rate: limit("ThrottlingRateLimit")?,
        line: item.line(),
    })
}

fn cors(field: &Field<'_>) -> Result<Cors, TemplateError> {
    field.only(vocabulary::CORS)?;
    Ok(Cors {
        allow_origins: field.texts_at("AllowOrigins")?,
        allow_methods: field.texts_at("AllowMethods")?,
        allow_headers: field.texts_at("AllowHeaders")?,
        expose_headers: field.texts_at("ExposeHeaders")?,
        allow_credentials: field.flag_at("AllowCredentials")?.unwrap_or(false),
        max_age_seconds: field.number_at("MaxAge", 0..=86_400)?,
    })
}
