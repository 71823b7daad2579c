//! What the `Resources` section declares, before any property is evaluated.

use crate::error::{Mark, Result, TemplateError};
use crate::field::Field;
use crate::globals;
use crate::node::Node;
use crate::resolve::Resolver;
use crate::suggest::{closest, did_you_mean};
use crate::vocabulary;

/// What happens to a resource's data when the resource leaves the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionPolicy {
    /// The resource goes and takes its data with it; the default.
    Delete,
    /// The resource stays.
    Retain,
    /// The resource stays unless the same deployment created it.
    RetainExceptOnCreate,
    /// The resource goes and leaves a snapshot.
    Snapshot,
}

/// A resource as the template declares it.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) mark: Mark,
    pub(crate) condition: Option<String>,
    /// False when the condition is: the resource can then not be referred to.
    pub(crate) exists: bool,
    pub(crate) depends_on: Vec<(String, Mark)>,
    pub(crate) deletion_policy: DeletionPolicy,
    pub(crate) update_replace_policy: DeletionPolicy,
    /// Globals included, intrinsics not yet evaluated.
    pub(crate) properties: Node,
}

/// Reads the whole section.
pub(crate) fn declarations(
    resources: &Field<'_>,
    globals: Option<&Node>,
    resolver: &Resolver<'_>,
) -> Result<Vec<Declaration>> {
    let entries = resources.entries()?;
    let declared: Result<Vec<_>, _> =
        entries.iter().map(|(id, field)| declaration(id, field, globals, resolver)).collect();
    let declared = declared?;
    for declaration in &declared {
        for (target, mark) in &declaration.depends_on {
            if !entries.iter().any(|(id, _)| id == target) {
                let hint = did_you_mean(target, entries.iter().map(|(id, _)| *id));
                let path = format!("{}.{}.DependsOn", resources.path, declaration.id);
                let reason = format!("unknown resource `{target}`{hint}");
                return Err(TemplateError::new(*mark, &path, reason));
            }
        }
    }
    Ok(declared)
}

fn declaration(
    id: &str,
    field: &Field<'_>,
    globals: Option<&Node>,
    resolver: &Resolver<'_>,
) -> Result<Declaration> {
    if !id.chars().all(|c| c.is_ascii_alphanumeric()) {
        let reason = "a logical id consists of letters and digits";
        return Err(TemplateError::new(field.key_mark, &field.path, reason));
    }
    field.only(vocabulary::RESOURCE)?;
    let kind = resource_type(&field.required("Type")?)?;
    let condition = field.get("Condition")?;
    let exists = match &condition {
        Some(name) => resolver.condition(&name.text()?, name.node.mark, &name.path)?,
        None => true,
    };
    let properties = match field.get("Properties")? {
        Some(properties) => {
            properties.entries()?;
            properties.node.clone()
        }
        None => Node::empty_map(field.key_mark),
    };
    Ok(Declaration {
        id: id.to_owned(),
        mark: field.key_mark,
        condition: condition.map(|name| name.text()).transpose()?,
        exists,
        depends_on: depends_on(field)?,
        deletion_policy: policy(field, "DeletionPolicy", resolver)?,
        update_replace_policy: policy(field, "UpdateReplacePolicy", resolver)?,
        properties: globals::apply(globals, &kind, properties),
        kind,
    })
}

/// The type, unless it is almost, but not quite, one that is modelled: such a resource would be
/// kept generically and silently be missing from the stack.
fn resource_type(field: &Field<'_>) -> Result<String> {
    let kind = field.text()?;
    if vocabulary::MODELLED_TYPES.contains(&kind.as_str()) {
        return Ok(kind);
    }
    if let Some(meant) = closest(&kind, vocabulary::MODELLED_TYPES.iter().copied(), 2) {
        return Err(field.error(format!("unknown type `{kind}` (did you mean `{meant}`?)")));
    }
    if !kind.contains("::") {
        return Err(field.expected("a resource type such as AWS::SQS::Queue"));
    }
    if kind.starts_with("AWS::Serverless::") {
        return Err(field.error(format!("unsupported resource type `{kind}`")));
    }
    Ok(kind)
}

fn depends_on(field: &Field<'_>) -> Result<Vec<(String, Mark)>> {
    let Some(targets) = field.get("DependsOn")? else {
        return Ok(Vec::new());
    };
    targets.one_or_many()?.iter().map(|item| Ok((item.text()?, item.node.mark))).collect()
}

fn policy(field: &Field<'_>, key: &str, resolver: &Resolver<'_>) -> Result<DeletionPolicy> {
    let Some(policy) = field.get(key)? else {
        return Ok(DeletionPolicy::Delete);
    };
    let Some(value) = resolver.resolve(policy.node, &policy.path)? else {
        return Ok(DeletionPolicy::Delete);
    };
    Field::new(&value, policy.path, policy.key_mark).choice(&[
        ("Delete", DeletionPolicy::Delete),
        ("Retain", DeletionPolicy::Retain),
        ("RetainExceptOnCreate", DeletionPolicy::RetainExceptOnCreate),
        ("Snapshot", DeletionPolicy::Snapshot),
    ])
}
