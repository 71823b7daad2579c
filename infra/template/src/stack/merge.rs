//! Makes one stack of a template and all that are nested in it.

use std::collections::BTreeMap;

use crate::error::{Result, TemplateError};
use crate::stack::build::{Declared, Template};
use crate::stack::gateway::{http, websocket};
use crate::{Function, Resource, Stack, WebSocketApi};

/// The stack that users see: what `template` describes, and after it what the nested ones do.
pub(crate) fn merge(template: Template) -> Result<Stack> {
    check_unique(&template.declared)?;
    let mut stack = template.stack;
    let gateway = {
        let views = views(&stack);
        let functions: Vec<&Function> = views.iter().flat_map(|view| &view.functions).collect();
        let permissions: Vec<&Resource> =
            views.iter().flat_map(|view| view.resources_of("AWS::Lambda::Permission")).collect();
        let parts = template.gateway;
        parts.check_apis()?;
        Gateway {
            http: http::assemble(&parts, &functions, &permissions)?,
            sockets: websocket::assemble(&parts, &functions)?,
        }
    };
    gateway.fill(&mut stack);
    for nested in std::mem::take(&mut stack.nested) {
        append(&mut stack, &nested.stack);
        stack.nested.push(nested);
    }
    // What is nested in a nested template comes after its siblings.
    let inner: Vec<_> = stack.nested.iter().flat_map(|nested| all_nested(&nested.stack)).collect();
    stack.nested.extend(inner);
    Ok(stack)
}

/// Physical names are made of logical ids, so that no two templates may use the same. That of a
/// resource that does not exist counts as well: it would collide as soon as its condition holds.
fn check_unique(declared: &[Declared]) -> Result {
    let mut seen: BTreeMap<&str, &Declared> = BTreeMap::new();
    for second in declared {
        let Some(first) = seen.insert(&second.id, second) else {
            continue;
        };
        let (id, file, line) = (&second.id, first.file.display(), first.mark.line);
        let reason = format!(
            "the logical id `{id}` is used already, see {file}:{line}; physical names are made of \
             it, so no two templates may have the same"
        );
        let error = TemplateError::new(second.mark, &format!("Resources.{id}"), reason);
        return Err(error.in_file(&second.file));
    }
    Ok(())
}

/// The stack of every template by itself.
fn views(stack: &Stack) -> Vec<&Stack> {
    let nested = stack.nested.iter().flat_map(|nested| views(&nested.stack));
    std::iter::once(stack).chain(nested).collect()
}

fn all_nested(stack: &Stack) -> Vec<crate::Nested> {
    let nested = stack.nested.iter();
    nested
        .flat_map(|nested| std::iter::once(nested.clone()).chain(all_nested(&nested.stack)))
        .collect()
}

/// Adds the lists of a nested stack, and of those nested in it.
fn append(stack: &mut Stack, nested: &Stack) {
    stack.functions.extend_from_slice(&nested.functions);
    stack.tables.extend_from_slice(&nested.tables);
    stack.queues.extend_from_slice(&nested.queues);
    stack.topics.extend_from_slice(&nested.topics);
    stack.subscriptions.extend_from_slice(&nested.subscriptions);
    stack.buckets.extend_from_slice(&nested.buckets);
    stack.apis.extend_from_slice(&nested.apis);
    stack.websockets.extend_from_slice(&nested.websockets);
    stack.log_groups.extend_from_slice(&nested.log_groups);
    stack.resources.extend_from_slice(&nested.resources);
    for inner in &nested.nested {
        append(stack, &inner.stack);
    }
}

/// What was put together from the parts of all templates.
struct Gateway {
    http: Vec<http::Assembled>,
    sockets: Vec<WebSocketApi>,
}

impl Gateway {
    /// Gives every template its own APIs, and its own functions their routes.
    fn fill(&self, stack: &mut Stack) {
        for (api, routes) in &self.http {
            if stack.resource(&api.logical_id).is_some() {
                stack.apis.push(api.clone());
            }
            for (id, route) in routes {
                let function = stack.functions.iter_mut().find(|it| it.logical_id == *id);
                if let Some(function) = function {
                    function.routes.push(route.clone());
                }
            }
        }
        for api in &self.sockets {
            if stack.resource(&api.logical_id).is_some() {
                stack.websockets.push(api.clone());
            }
        }
        stack.apis.sort_by_key(|api| api.line);
        for nested in &mut stack.nested {
            self.fill(&mut nested.stack);
        }
    }
}
