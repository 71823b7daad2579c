//! Evaluates the `Conditions` section, each condition once, whichever order they stand in.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::error::{Result, TemplateError};
use crate::field::Field;
use crate::node::{Intrinsic, Kind, Node};
use crate::resolve::Resolver;
use crate::suggest::did_you_mean;

/// The truth of every condition. They see parameters and mappings, but no resources.
pub(crate) fn evaluate(
    section: &Field<'_>,
    resolver: &Resolver<'_>,
) -> Result<BTreeMap<String, bool>> {
    let declared = section.entries()?;
    let mut evaluation =
        Evaluation { declared: &declared, resolver, known: BTreeMap::new(), pending: Vec::new() };
    for (name, field) in &declared {
        evaluation.named(name, field)?;
    }
    Ok(evaluation.known)
}

struct Evaluation<'a> {
    declared: &'a [(&'a str, Field<'a>)],
    resolver: &'a Resolver<'a>,
    known: BTreeMap<String, bool>,
    pending: Vec<String>,
}

impl Evaluation<'_> {
    /// The condition called `name`; `at` is the place that asks for it.
    fn named(&mut self, name: &str, at: &Field<'_>) -> Result<bool> {
        if let Some(known) = self.known.get(name) {
            return Ok(*known);
        }
        let Some((_, field)) = self.declared.iter().find(|(declared, _)| *declared == name) else {
            let hint = did_you_mean(name, self.declared.iter().map(|(declared, _)| *declared));
            return Err(at.error(format!("unknown condition `{name}`{hint}")));
        };
        if self.pending.iter().any(|pending| pending == name) {
            return Err(at.error(format!("circular reference: `{name}` depends on itself")));
        }
        self.pending.push(name.to_owned());
        let truth = self.truth(field)?;
        self.pending.pop();
        self.known.insert(name.to_owned(), truth);
        Ok(truth)
    }

    fn truth(&mut self, field: &Field<'_>) -> Result<bool> {
        let expected = || field.expected("a condition function such as Fn::Equals");
        match &field.node.kind {
            Kind::Call(intrinsic, argument) => {
                let argument = Field::new(argument, field.path.clone(), field.key_mark);
                self.call(*intrinsic, &argument, expected)
            }
            // The long form of `!Condition`.
            Kind::Map(entries) => match entries.as_slice() {
                [entry] if entry.key == "Condition" => {
                    let name = Field::new(&entry.value, field.path.clone(), entry.mark);
                    self.named(&name.text()?, &name)
                }
                _ => Err(expected()),
            },
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::List(_) => {
                Err(expected())
            }
        }
    }

    fn call(
        &mut self,
        intrinsic: Intrinsic,
        argument: &Field<'_>,
        expected: impl Fn() -> TemplateError,
    ) -> Result<bool> {
        match intrinsic {
            Intrinsic::Equals => self.equals(argument),
            Intrinsic::And => Ok(self.all(argument, 2..=10, intrinsic)?.iter().all(|truth| *truth)),
            Intrinsic::Or => Ok(self.all(argument, 2..=10, intrinsic)?.iter().any(|truth| *truth)),
            Intrinsic::Not => Ok(!self.all(argument, 1..=1, intrinsic)?.iter().all(|truth| *truth)),
            Intrinsic::Condition => self.named(&argument.text()?, argument),
            Intrinsic::Ref
            | Intrinsic::GetAtt
            | Intrinsic::Sub
            | Intrinsic::Join
            | Intrinsic::Select
            | Intrinsic::Split
            | Intrinsic::FindInMap
            | Intrinsic::If => Err(expected()),
        }
    }

    /// All operands are evaluated, also where the first settles it, so that mistakes do not hide.
    fn all(
        &mut self,
        argument: &Field<'_>,
        count: RangeInclusive<usize>,
        intrinsic: Intrinsic,
    ) -> Result<Vec<bool>> {
        let items = argument.items()?;
        if !count.contains(&items.len()) {
            let wanted = if *count.end() == 1 { "one condition" } else { "2 to 10 conditions" };
            let reason = format!("{} takes a list of {wanted}", intrinsic.name());
            return Err(argument.error(reason));
        }
        items.iter().map(|item| self.truth(item)).collect()
    }

    fn equals(&self, argument: &Field<'_>) -> Result<bool> {
        let items = argument.items()?;
        let [left, right] = items.as_slice() else {
            return Err(argument.error("Fn::Equals takes a list of two values"));
        };
        let value = |field: &Field<'_>| -> Result<Option<String>> {
            let resolved = self.resolver.resolve(field.node, &field.path)?;
            // Text and numbers compare as text, as parameters are text to begin with.
            let text = |node: &Node| node.as_text().unwrap_or_else(|| node.to_json().to_string());
            Ok(resolved.as_ref().map(text))
        };
        Ok(value(left)? == value(right)?)
    }
}
