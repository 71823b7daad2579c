//! Filling in: a version, a person and some data make what they read, or say why not.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Map, Value};

use super::{Rendering, SYSTEM_VARIABLES, TemplateVersion, language};
use crate::accounts::UserId;
use crate::notifications::words::{Form, fault, flattened, try_map};
use crate::notifications::{Channel, Content, Locale, Words};

/// What a person reads, and what it was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub content: Content,
    pub rendering: Rendering,
}

/// Why a text can't be made: sending it again would not help. Nothing here says what was passed in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// There are no words for this channel.
    #[error("it has no words for {}", .0.name())]
    NoWords(Channel),
    /// Something has to be passed in and was not.
    #[error("without {}", .0.join(", "))]
    Missing(Vec<String>),
    /// What was passed in is no object.
    #[error("its data is no JSON object")]
    NoObject,
    /// The text could not be filled in.
    #[error("{field}: {problem}")]
    Failed { field: &'static str, problem: String },
    /// What came of it can't be sent.
    #[error("{field} must be {rule}")]
    Unsendable {
        field: &'static str,
        /// What it must be.
        rule: String,
    },
}

/// No text is longer, however it came about.
const MAX_OUTPUT_LENGTH: usize = 1_000_000;

impl TemplateVersion {
    /// What `user`, who reads `wanted`, gets by `channel`. `data` is a JSON object; `system` fills in
    /// [`SYSTEM_VARIABLES`].
    pub fn render(
        &self,
        channel: Channel,
        wanted: Option<&Locale>,
        user: &UserId,
        data: &str,
        system: &BTreeMap<&str, String>,
    ) -> Result<Rendered, Unfit> {
        let data = self.filled(data, system)?;
        let (variant, texts) = self.draft.variant_for(user);
        let (locale, words) =
            self.nearest(texts, channel, wanted).ok_or(Unfit::NoWords(channel))?;
        let source = words.on(channel).ok_or(Unfit::NoWords(channel))?;
        let content = try_map(&source, |field, form, text| fill(field, form, text, &data))?;
        if let Some((field, rule)) = fault(&content) {
            return Err(Unfit::Unsendable { field, rule });
        }
        let rendering = Rendering {
            template: self.template.clone(),
            version: self.number,
            variant: variant.map(str::to_owned),
            wanted: wanted.cloned(),
            locale,
        };
        Ok(Rendered { content, rendering })
    }

    /// Whether everything that has to be passed in is, as far as that can be told before sending.
    pub fn accepts(&self, data: &str) -> Result<(), Unfit> {
        let object: Map<String, Value> = serde_json::from_str(data).map_err(|_| Unfit::NoObject)?;
        self.complete(&object)
    }

    fn filled(&self, data: &str, system: &BTreeMap<&str, String>) -> Result<Value, Unfit> {
        let mut object: Map<String, Value> =
            serde_json::from_str(data).map_err(|_| Unfit::NoObject)?;
        self.complete(&object)?;
        for name in SYSTEM_VARIABLES {
            // Callers can't pass these in: a link that ends mails is ours.
            object.remove(name);
            if let Some(value) = system.get(name) {
                object.insert(name.to_owned(), Value::String(value.clone()));
            }
        }
        Ok(Value::Object(object))
    }

    fn complete(&self, object: &Map<String, Value>) -> Result<(), Unfit> {
        let absent = |name: &&String| object.get(*name).is_none_or(Value::is_null);
        let missing: Vec<String> = self.draft.required.iter().filter(absent).cloned().collect();
        if missing.is_empty() { Ok(()) } else { Err(Unfit::Missing(missing)) }
    }

    /// The words in the nearest locale that has some for the channel.
    fn nearest<'a>(
        &self,
        texts: &'a BTreeMap<Locale, Words>,
        channel: Channel,
        wanted: Option<&Locale>,
    ) -> Option<(Locale, &'a Words)> {
        let chain = wanted.into_iter().flat_map(Locale::chain);
        chain.chain([self.draft.default_locale.clone()]).find_map(|locale| {
            let words = texts.get(&locale)?;
            words.channels().any(|has| has == channel).then_some((locale, words))
        })
    }
}

fn fill(field: &'static str, form: Form, source: &str, data: &Value) -> Result<String, Unfit> {
    let failed = |error: minijinja::Error| Unfit::Failed { field, problem: language::told(&error) };
    let engine = language::engine();
    let template = engine.template_from_named_str(language::name(form), source).map_err(failed)?;
    let mut output = Bounded(Vec::new());
    template.render_captured_to(data, &mut output).map_err(failed)?;
    let text = String::from_utf8(output.0)
        .map_err(|_| Unfit::Failed { field, problem: "no text came of it".to_owned() })?;
    Ok(match form {
        // Whatever was passed in, a line stays one.
        Form::Line => flattened(&text),
        Form::Link => text.trim().to_owned(),
        Form::Text | Form::Html => text,
    })
}

/// Takes so many bytes and no more.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT_LENGTH {
            return Err(io::Error::other("the text is too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
