//! Renders a version with some data for a user, or says why it can't be.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Map, Value};

use super::{Rendering, SYSTEM_VARIABLES, TemplateVersion, language};
use crate::accounts::UserId;
use crate::notifications::contents::{TextKind, invalid_field, to_single_line, try_map_texts};
use crate::notifications::{Channel, ChannelContents, Content, Locale};

/// What a person reads, and what it was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub content: Content,
    pub rendering: Rendering,
}

/// Why a text can't be made: sending it again would not help. Nothing here says what was passed in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// There are no words for this channel.
    #[error("it has no words for {}", .0.name())]
    NoContent(Channel),
    /// Something has to be passed in and was not.
    #[error("without {}", .0.join(", "))]
    MissingVariables(Vec<String>),
    /// What was passed in is no object.
    #[error("its data is no JSON object")]
    DataNotAnObject,
    /// The text could not be rendered.
    #[error("{field}: {problem}")]
    Failed { field: &'static str, problem: String },
    /// What came of it can't be sent.
    #[error("{field} must be {rule}")]
    Invalid { field: &'static str, rule: String },
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
    ) -> Result<Rendered, RenderError> {
        let data = self.with_system_variables(data, system)?;
        let (variant, texts) = self.draft.variant_for(user);
        let (locale, contents) =
            self.nearest_locale(texts, channel, wanted).ok_or(RenderError::NoContent(channel))?;
        let source = contents.for_channel(channel).ok_or(RenderError::NoContent(channel))?;
        let content =
            try_map_texts(&source, |field, form, text| render_text(field, form, text, &data))?;
        if let Some((field, rule)) = invalid_field(&content) {
            return Err(RenderError::Invalid { field, rule });
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
    pub fn accepts(&self, data: &str) -> Result<(), RenderError> {
        let object: Map<String, Value> =
            serde_json::from_str(data).map_err(|_| RenderError::DataNotAnObject)?;
        self.check_required(&object)
    }

    fn with_system_variables(
        &self,
        data: &str,
        system: &BTreeMap<&str, String>,
    ) -> Result<Value, RenderError> {
        let mut object: Map<String, Value> =
            serde_json::from_str(data).map_err(|_| RenderError::DataNotAnObject)?;
        self.check_required(&object)?;
        for name in SYSTEM_VARIABLES {
            // Callers can't pass these in: a link that ends mails is ours.
            object.remove(name);
            if let Some(value) = system.get(name) {
                object.insert(name.to_owned(), Value::String(value.clone()));
            }
        }
        Ok(Value::Object(object))
    }

    fn check_required(&self, object: &Map<String, Value>) -> Result<(), RenderError> {
        let absent = |name: &&String| object.get(*name).is_none_or(Value::is_null);
        let missing: Vec<String> = self.draft.required.iter().filter(absent).cloned().collect();
        if missing.is_empty() { Ok(()) } else { Err(RenderError::MissingVariables(missing)) }
    }

    /// The words in the nearest locale that has some for the channel.
    fn nearest_locale<'a>(
        &self,
        texts: &'a BTreeMap<Locale, ChannelContents>,
        channel: Channel,
        wanted: Option<&Locale>,
    ) -> Option<(Locale, &'a ChannelContents)> {
        let chain = wanted.into_iter().flat_map(Locale::chain);
        chain.chain([self.draft.default_locale.clone()]).find_map(|locale| {
            let contents = texts.get(&locale)?;
            contents.channels().any(|has| has == channel).then_some((locale, contents))
        })
    }
}

fn render_text(
    field: &'static str,
    form: TextKind,
    source: &str,
    data: &Value,
) -> Result<String, RenderError> {
    let failed = |error: minijinja::Error| RenderError::Failed {
        field,
        problem: language::describe_error(&error),
    };
    let engine = language::engine();
    let template =
        engine.template_from_named_str(language::file_name(form), source).map_err(failed)?;
    let mut output = BoundedBuffer(Vec::new());
    template.render_captured_to(data, &mut output).map_err(failed)?;
    let text = String::from_utf8(output.0)
        .map_err(|_| RenderError::Failed { field, problem: "no text came of it".to_owned() })?;
    Ok(match form {
        // Data can't break a line.
        TextKind::Line => to_single_line(&text),
        TextKind::Link => text.trim().to_owned(),
        TextKind::Text | TextKind::Html => text,
    })
}

/// Takes so many bytes and no more.
struct BoundedBuffer(Vec<u8>);

impl io::Write for BoundedBuffer {
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
