//! Finds resources that need each other to exist first, which no deployment can satisfy.

use std::collections::BTreeMap;

use crate::error::{Result, TemplateError};
use crate::resolve::Reference;

/// What each resource refers to.
pub(crate) type References = BTreeMap<String, Vec<Reference>>;

/// Refuses a circle of references.
pub(crate) fn check(references: &References) -> Result {
    let mut cleared = Vec::new();
    for id in references.keys() {
        visit(id, references, &mut Vec::new(), &mut cleared)?;
    }
    Ok(())
}

fn visit<'a>(
    id: &'a str,
    references: &'a References,
    trail: &mut Vec<&'a str>,
    cleared: &mut Vec<&'a str>,
) -> Result {
    if cleared.contains(&id) {
        return Ok(());
    }
    trail.push(id);
    for made in references.get(id).into_iter().flatten() {
        if let Some(start) = trail.iter().position(|seen| *seen == made.target) {
            let circle = [&trail[start..], &[made.target.as_str()]].concat().join(" -> ");
            let reason = format!("circular dependency: {circle}");
            return Err(TemplateError::new(made.mark, &made.path, reason));
        }
        visit(&made.target, references, trail, cleared)?;
    }
    trail.pop();
    cleared.push(id);
    Ok(())
}
