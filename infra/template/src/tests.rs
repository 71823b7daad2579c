//! Reads whole templates, right and wrong.

mod gateway;
mod intrinsics;
mod mistakes;
mod parameters;
mod product;
mod shapes;
mod websockets;

use std::collections::BTreeMap;
use std::path::Path;

use crate::{Result, Stack};

/// Reads a template from text, as a stack called `test`.
fn parse(text: &str, parameters: &[(&str, &str)]) -> Result<Stack> {
    let given = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    crate::parse("test", Path::new("t.yaml"), text, &given.collect::<BTreeMap<_, _>>())
}

/// Reads a template that must be right.
fn stack(text: &str) -> Stack {
    parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
