//! The parameters of the Query protocol: flat names with dots and numbers in them.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::error::{Code, Refused};
use crate::message::{AttributeValue, MessageAttributes};
use crate::settings::Attributes;

/// The parameters of one request, or those of them that start alike.
#[derive(Debug, Default)]
pub(crate) struct Params(BTreeMap<String, String>);

impl Params {
    /// Reads the query string and the form in the body.
    pub(crate) fn read(query: &str, body: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes()).chain(form_urlencoded::parse(body));
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The parameter of this name.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The parameter of this name, or the refusal that SNS answers with.
    pub(crate) fn required(&self, name: &str) -> Result<&str, Refused> {
        self.text(name).filter(|text| !text.is_empty()).ok_or_else(|| {
            let message = format!("Invalid parameter: {name} is required");
            Refused::new(Code::InvalidTopicParameter, message)
        })
    }

    /// The elements of a list such as `Tags.member.1.Key`, each with the parameters below it.
    pub(crate) fn list(&self, prefix: &str) -> Vec<Self> {
        let mut elements: BTreeMap<u32, Self> = BTreeMap::new();
        for (name, value) in &self.0 {
            let rest = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
            let Some((number, below)) = rest.and_then(|rest| rest.split_once('.')) else {
                continue;
            };
            if let Ok(number) = number.parse() {
                elements.entry(number).or_default().0.insert(below.into(), value.clone());
            }
        }
        elements.into_values().collect()
    }

    /// The map under `Attributes.entry`.
    pub(crate) fn attributes(&self) -> Attributes {
        let entries = self.list("Attributes.entry");
        entries
            .iter()
            .filter_map(|entry| Some((entry.text("key")?.into(), entry.text("value")?.into())))
            .collect()
    }

    /// The map under `MessageAttributes.entry`.
    pub(crate) fn message_attributes(&self) -> Result<MessageAttributes, Refused> {
        let entries = self.list("MessageAttributes.entry");
        entries.iter().map(Self::message_attribute).collect()
    }

    fn message_attribute(&self) -> Result<(String, AttributeValue), Refused> {
        let binary_value = self.text("Value.BinaryValue").map(|text| STANDARD.decode(text));
        let binary_value = binary_value.transpose().map_err(|_| {
            Refused::new(Code::InvalidTopicParameter, "Invalid parameter: BinaryValue")
        })?;
        let value = AttributeValue {
            data_type: self.required("Value.DataType")?.into(),
            string_value: self.text("Value.StringValue").map(Into::into),
            binary_value,
        };
        Ok((self.required("Name")?.into(), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_the_order_of_its_numbers() {
        let body =
            b"L.member.10.Id=j&L.member.2.Id=b&L.member.1.Id=a&M.member.1.Id=x&L.member.x.Id=y";
        let list = Params::read("", body).list("L.member");
        let ids: Vec<_> = list.iter().filter_map(|entry| entry.text("Id")).collect();
        assert_eq!(ids, ["a", "b", "j"]);
    }

    #[test]
    fn message_attributes_are_read_with_their_types() {
        let body =
            b"MessageAttributes.entry.1.Name=a&MessageAttributes.entry.1.Value.DataType=String\
            &MessageAttributes.entry.1.Value.StringValue=x+y\
            &MessageAttributes.entry.2.Name=b&MessageAttributes.entry.2.Value.DataType=Binary\
            &MessageAttributes.entry.2.Value.BinaryValue=AAE%3D";
        let attributes = Params::read("", body).message_attributes().unwrap();
        assert_eq!(attributes["a"], AttributeValue::string("x y"));
        assert_eq!(attributes["b"].binary_value, Some(vec![0, 1]));
    }
}
