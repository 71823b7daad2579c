//! Reads the small ones: `AWS::S3::Bucket` and `AWS::Logs::LogGroup`.

use crate::declare::DeletionPolicy;
use crate::error::Result;
use crate::stack::build::Item;
use crate::vocabulary;

/// A bucket. What else the template says about it is in its [`crate::Resource`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Its physical name.
    pub name: String,
    pub arn: String,
    /// Whether it keeps old versions of objects.
    pub versioned: bool,
    /// What happens to the bucket when it leaves the stack.
    pub deletion_policy: DeletionPolicy,
    /// The line of its key.
    pub line: usize,
}

/// A log group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogGroup {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Its physical name.
    pub name: String,
    pub arn: String,
    /// How long events are kept; `None` is for ever.
    pub retention_days: Option<u64>,
    /// The line of its key.
    pub line: usize,
}

pub(crate) fn read_bucket(item: &Item<'_>) -> Result<Bucket> {
    let states = [("Enabled", true), ("Suspended", false)];
    let versioning = item.properties.get("VersioningConfiguration")?;
    let versioned = versioning.map(|field| field.required("Status")?.choice(&states));
    Ok(Bucket {
        logical_id: item.id(),
        name: item.name.clone(),
        arn: item.attribute("Arn"),
        versioned: versioned.transpose()?.unwrap_or(false),
        deletion_policy: item.declaration.deletion_policy,
        line: item.line(),
    })
}

pub(crate) fn read_log_group(item: &Item<'_>) -> Result<LogGroup> {
    item.properties.only(vocabulary::LOG_GROUP)?;
    Ok(LogGroup {
        logical_id: item.id(),
        name: item.name.clone(),
        arn: item.attribute("Arn"),
        retention_days: item.properties.number_at("RetentionInDays", 1..=3653)?,
        line: item.line(),
    })
}
