//! Reads `AWS::DynamoDB::Table`.

mod keys;

use crate::declare::DeletionPolicy;
use crate::error::Result;
use crate::field::Field;
use crate::stack::build::Item;
use crate::vocabulary;

#[derive(Debug, Clone)]
pub struct Table {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Its physical name.
    pub name: String,
    pub arn: String,
    /// The attributes that keys are made of.
    pub attributes: Vec<Attribute>,
    /// The primary key.
    pub key: Key,
    /// Secondary indexes, global ones first.
    pub indexes: Vec<Index>,
    /// The attribute after whose time an item is deleted.
    pub ttl_attribute: Option<String>,
    /// What the stream shows, if there is one.
    pub stream: Option<StreamView>,
    /// Whether the table can be restored to any second of the last weeks.
    pub point_in_time_recovery: bool,
    /// Whether `SSESpecification` asks for encryption with a KMS key.
    pub encrypted: bool,
    /// Whether the table refuses to be deleted.
    pub deletion_protection: bool,
    /// What happens to the table when it leaves the stack.
    pub deletion_policy: DeletionPolicy,
    /// What is paid for.
    pub billing: Billing,
    /// The line of its key.
    pub line: usize,
}

/// An attribute that a key is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    pub name: String,
    pub kind: AttributeType,
}

/// The types a key attribute can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeType {
    String,
    Number,
    Binary,
}

/// A primary or secondary key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The partition key.
    pub hash: String,
    /// The sort key.
    pub range: Option<String>,
}

/// A secondary index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    pub name: String,
    /// Global or local.
    pub scope: IndexScope,
    pub key: Key,
    /// Which attributes it carries.
    pub projection: Projection,
}

/// Whether an index has a partition key of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexScope {
    Global,
    /// It shares the table's.
    Local,
}

/// Which attributes an index carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projection {
    /// All of them.
    All,
    /// The keys of the table and the index.
    KeysOnly,
    /// The keys and these.
    Include(Vec<String>),
}

/// What a stream shows of a changed item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamView {
    KeysOnly,
    /// The item after the change.
    NewImage,
    /// The item before the change.
    OldImage,
    NewAndOldImages,
}

/// What is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Billing {
    OnDemand,
    Provisioned {
        /// Reads per second.
        read: u64,
        /// Writes per second.
        write: u64,
    },
}

pub(crate) fn read(item: &Item<'_>) -> Result<Table> {
    let properties = &item.properties;
    properties.only(vocabulary::TABLE)?;
    let keys = keys::read(properties)?;
    let specified = |section: &str, switch: &str| -> Result<bool> {
        let Some(section) = properties.get(section)? else {
            return Ok(false);
        };
        Ok(section.flag_at(switch)?.unwrap_or(false))
    };
    Ok(Table {
        logical_id: item.id(),
        name: item.name.clone(),
        arn: item.attribute("Arn"),
        ttl_attribute: ttl_attribute(properties)?,
        stream: stream(properties)?,
        point_in_time_recovery: specified(
            "PointInTimeRecoverySpecification",
            "PointInTimeRecoveryEnabled",
        )?,
        encrypted: specified("SSESpecification", "SSEEnabled")?,
        deletion_protection: properties.flag_at("DeletionProtectionEnabled")?.unwrap_or(false),
        deletion_policy: item.declaration.deletion_policy,
        billing: billing(properties)?,
        line: item.line(),
        attributes: keys.attributes,
        key: keys.key,
        indexes: keys.indexes,
    })
}

fn ttl_attribute(properties: &Field<'_>) -> Result<Option<String>> {
    let Some(section) = properties.get("TimeToLiveSpecification")? else {
        return Ok(None);
    };
    section.only(&["AttributeName", "Enabled"])?;
    let attribute = section.required("AttributeName")?.text()?;
    Ok(section.required("Enabled")?.flag()?.then_some(attribute))
}

fn stream(properties: &Field<'_>) -> Result<Option<StreamView>> {
    let Some(section) = properties.get("StreamSpecification")? else {
        return Ok(None);
    };
    let view = section.required("StreamViewType")?.choice(&[
        ("KEYS_ONLY", StreamView::KeysOnly),
        ("NEW_IMAGE", StreamView::NewImage),
        ("OLD_IMAGE", StreamView::OldImage),
        ("NEW_AND_OLD_IMAGES", StreamView::NewAndOldImages),
    ])?;
    Ok(Some(view))
}

fn billing(properties: &Field<'_>) -> Result<Billing> {
    let modes = [("PAY_PER_REQUEST", true), ("PROVISIONED", false)];
    let mode = properties.get("BillingMode")?.map(|mode| mode.choice(&modes)).transpose()?;
    if mode == Some(true) {
        return Ok(Billing::OnDemand);
    }
    let throughput = properties.required("ProvisionedThroughput")?;
    let units = |key: &str| throughput.required(key)?.number(1..=u64::MAX);
    Ok(Billing::Provisioned {
        read: units("ReadCapacityUnits")?,
        write: units("WriteCapacityUnits")?,
    })
}
