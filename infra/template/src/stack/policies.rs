//! Reads the `Policies` of a function: inline documents, SAM policy templates, managed policies.

use serde_json::Value;

use crate::error::Result;
use crate::field::Field;
use crate::node::Kind;

/// One statement of a policy document.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Whether it grants or forbids.
    pub effect: Effect,
    /// The actions, such as `dynamodb:GetItem`.
    pub actions: Vec<String>,
    /// The ARNs it applies to.
    pub resources: Vec<String>,
    /// Under which further conditions, as written.
    pub condition: Option<Value>,
    /// The line it begins on.
    pub line: usize,
}

/// Whether a statement grants or forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Allow,
    /// It forbids, also what other statements grant.
    Deny,
}

/// A policy that SAM would write out from a name and a few parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyTemplate {
    /// Its name, such as `SQSSendMessagePolicy`.
    pub name: String,
    /// Its parameters, evaluated.
    pub parameters: Value,
}

/// All policies of a function, by kind.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    pub(crate) statements: Vec<Statement>,
    pub(crate) templates: Vec<PolicyTemplate>,
    pub(crate) managed: Vec<String>,
}

pub(crate) fn read(properties: &Field<'_>) -> Result<Policies> {
    let mut policies = Policies::default();
    let Some(field) = properties.get("Policies")? else {
        return Ok(policies);
    };
    for policy in field.one_or_many()? {
        let Kind::Map(entries) = &policy.node.kind else {
            policies.managed.push(policy.text()?);
            continue;
        };
        match entries.as_slice() {
            [template] if template.key.ends_with("Policy") => {
                policies.templates.push(PolicyTemplate {
                    name: template.key.clone(),
                    parameters: template.value.to_json(),
                });
            }
            _ => policies.statements.extend(document(&policy)?),
        }
    }
    Ok(policies)
}

fn document(field: &Field<'_>) -> Result<Vec<Statement>> {
    field.only(&["Id", "Statement", "Version"])?;
    field.required("Statement")?.one_or_many()?.iter().map(statement).collect()
}

fn statement(field: &Field<'_>) -> Result<Statement> {
    field.only(&["Action", "Condition", "Effect", "Resource", "Sid"])?;
    let texts = |key: &str| -> Result<Vec<String>> {
        field.required(key)?.one_or_many()?.iter().map(Field::text).collect()
    };
    let effects = [("Allow", Effect::Allow), ("Deny", Effect::Deny)];
    Ok(Statement {
        effect: field.required("Effect")?.choice(&effects)?,
        actions: texts("Action")?,
        resources: texts("Resource")?,
        condition: field.get("Condition")?.map(|condition| condition.node.to_json()),
        line: field.node.mark.line,
    })
}
