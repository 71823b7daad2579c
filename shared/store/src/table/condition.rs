//! What must be true of a row before it is written: literal text, and the values that it names.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};

use crate::row::{Item, number, text};

/// There must be no such row.
pub const ABSENT: Condition = Condition::literal("attribute_not_exists(pk)");

/// There must be such a row.
pub const PRESENT: Condition = Condition::literal("attribute_exists(pk)");

/// Nothing must be true: for writes that may be repeated.
pub const ALWAYS: Condition = Condition::literal("");

/// A condition on one row; it carries the values of the whole request, those of its change too.
#[derive(Debug, Clone)]
pub struct Condition {
    expression: &'static str,
    values: Vec<(&'static str, AttributeValue)>,
    on_failure: Option<ReturnValuesOnConditionCheckFailure>,
}

/// The condition `expression`.
pub const fn given(expression: &'static str) -> Condition {
    Condition::literal(expression)
}

/// The members of a request that a condition becomes.
pub(super) struct Expression {
    pub(super) condition: Option<String>,
    pub(super) names: Option<HashMap<String, String>>,
    pub(super) values: Option<Item>,
    pub(super) on_failure: Option<ReturnValuesOnConditionCheckFailure>,
}

impl Condition {
    const fn literal(expression: &'static str) -> Self {
        Self { expression, values: Vec::new(), on_failure: None }
    }

    /// With what the placeholder `name` stands for.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl IntoAttribute) -> Self {
        self.values.push((name, value.attribute()));
        self
    }

    /// With the row that is there as the result of a lost condition.
    #[must_use]
    pub fn returning_old(mut self) -> Self {
        self.on_failure = Some(ReturnValuesOnConditionCheckFailure::AllOld);
        self
    }

    /// With nothing as the result of a lost condition, stated in the request.
    #[must_use]
    pub fn returning_none(mut self) -> Self {
        self.on_failure = Some(ReturnValuesOnConditionCheckFailure::None);
        self
    }

    /// For a request with the update expression `change`.
    pub(super) fn into_expression(self, change: &str) -> Expression {
        let Self { expression, values, on_failure } = self;
        Expression {
            condition: (!expression.is_empty()).then(|| expression.to_owned()),
            names: names([expression, change]),
            values: named(values),
            on_failure,
        }
    }
}

/// The attributes that expressions name as `#attribute`.
pub(super) fn names<'a>(
    expressions: impl IntoIterator<Item = &'a str>,
) -> Option<HashMap<String, String>> {
    let mut names = HashMap::new();
    for piece in expressions.into_iter().flat_map(|text| text.split('#').skip(1)) {
        let end = piece.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = &piece[..end.unwrap_or(piece.len())];
        names.insert(format!("#{name}"), name.to_owned());
    }
    (!names.is_empty()).then_some(names)
}

/// Values as a request has them.
pub(super) fn named(values: Vec<(&'static str, AttributeValue)>) -> Option<Item> {
    let values: Item = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    (!values.is_empty()).then_some(values)
}

/// What can be the value of an attribute.
pub trait IntoAttribute {
    fn attribute(self) -> AttributeValue;
}

impl IntoAttribute for &str {
    fn attribute(self) -> AttributeValue {
        text(self)
    }
}

impl IntoAttribute for String {
    fn attribute(self) -> AttributeValue {
        text(self)
    }
}

impl IntoAttribute for bool {
    fn attribute(self) -> AttributeValue {
        AttributeValue::Bool(self)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl IntoAttribute for $number {
            fn attribute(self) -> AttributeValue {
                number(self)
            }
        })*
    };
}

numbers!(u8, u32, u64, usize, i32, i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_off_the_expressions() {
        let change = "SET #max = if_not_exists(#max, :limit) ADD in_use :one";
        let room = given("in_use < #max AND #status = :open").with(":open", "open").with(":one", 1);
        let Expression { names, values, condition, on_failure } = room.into_expression(change);
        let expected = [("#max", "max"), ("#status", "status")];
        let expected = expected.map(|(name, it)| (name.to_owned(), it.to_owned()));
        assert_eq!(names, Some(HashMap::from(expected)));
        assert_eq!(values.map(|values| values.len()), Some(2));
        assert_eq!(condition.as_deref(), Some("in_use < #max AND #status = :open"));
        assert_eq!(on_failure, None);
    }

    #[test]
    fn what_is_empty_is_not_sent() {
        let Expression { condition, names, values, .. } = ALWAYS.into_expression("REMOVE gsi2pk");
        assert!((condition, names, values) == (None, None, None));
    }
}
