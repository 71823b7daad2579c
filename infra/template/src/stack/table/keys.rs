//! The keys of a table and its indexes, checked against the attributes it defines, since a table
//! that defines too few or too many cannot be created.

use crate::error::Result;
use crate::field::Field;
use crate::stack::table::{Attribute, AttributeType, Index, IndexScope, Key, Projection};

pub(super) struct Keys {
    pub(super) attributes: Vec<Attribute>,
    pub(super) key: Key,
    pub(super) indexes: Vec<Index>,
}

pub(super) fn read(properties: &Field<'_>) -> Result<Keys> {
    let definitions = properties.required("AttributeDefinitions")?;
    let attributes = attributes(&definitions)?;
    let key = key(properties, &attributes)?;
    let mut indexes = Vec::new();
    for (section, scope) in [
        ("GlobalSecondaryIndexes", IndexScope::Global),
        ("LocalSecondaryIndexes", IndexScope::Local),
    ] {
        let Some(section) = properties.get(section)? else {
            continue;
        };
        for field in section.items()? {
            indexes.push(index(&field, scope, &attributes)?);
        }
    }
    let keys = Keys { attributes, key, indexes };
    refuse_unused(&definitions, &keys)?;
    Ok(keys)
}

fn attributes(definitions: &Field<'_>) -> Result<Vec<Attribute>> {
    let attribute = |field: &Field<'_>| {
        field.only(&["AttributeName", "AttributeType"])?;
        let kind = field.required("AttributeType")?.choice(&[
            ("S", AttributeType::String),
            ("N", AttributeType::Number),
            ("B", AttributeType::Binary),
        ])?;
        Ok(Attribute { name: field.required("AttributeName")?.text()?, kind })
    };
    definitions.items()?.iter().map(attribute).collect()
}

fn key(owner: &Field<'_>, attributes: &[Attribute]) -> Result<Key> {
    let schema = owner.required("KeySchema")?;
    let (mut hash, mut range) = (None, None);
    for part in schema.items()? {
        part.only(&["AttributeName", "KeyType"])?;
        let name = part.required("AttributeName")?;
        let text = name.text()?;
        if !attributes.iter().any(|attribute| attribute.name == text) {
            return Err(name.error(format!("`{text}` is not in AttributeDefinitions")));
        }
        let is_hash = part.required("KeyType")?.choice(&[("HASH", true), ("RANGE", false)])?;
        let slot = if is_hash { &mut hash } else { &mut range };
        if slot.replace(text).is_some() {
            return Err(part.error("a key has one HASH and at most one RANGE attribute"));
        }
    }
    let hash = hash.ok_or_else(|| schema.error("a key needs a HASH attribute"))?;
    Ok(Key { hash, range })
}

fn index(field: &Field<'_>, scope: IndexScope, attributes: &[Attribute]) -> Result<Index> {
    Ok(Index {
        name: field.required("IndexName")?.text()?,
        scope,
        key: key(field, attributes)?,
        projection: projection(&field.required("Projection")?)?,
    })
}

fn projection(field: &Field<'_>) -> Result<Projection> {
    field.only(&["NonKeyAttributes", "ProjectionType"])?;
    let kind = field.required("ProjectionType")?;
    match kind.text()?.as_str() {
        "ALL" => Ok(Projection::All),
        "KEYS_ONLY" => Ok(Projection::KeysOnly),
        "INCLUDE" => Ok(Projection::Include(field.required("NonKeyAttributes")?.texts()?)),
        _ => Err(kind.expected("one of ALL, KEYS_ONLY, INCLUDE")),
    }
}

fn refuse_unused(definitions: &Field<'_>, keys: &Keys) -> Result {
    let all = || keys.indexes.iter().map(|index| &index.key).chain([&keys.key]);
    for (attribute, field) in keys.attributes.iter().zip(definitions.items()?) {
        let name = &attribute.name;
        if !all().any(|key| key.hash == *name || key.range.as_ref() == Some(name)) {
            return Err(field.error(format!("`{name}` is defined but part of no key")));
        }
    }
    Ok(())
}
