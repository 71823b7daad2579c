//! Every table, key, index and attribute name, once. A contract test holds `template.yaml` to it.

/// Partition key of every table.
pub const PK: &str = "pk";
/// Sort key of every table.
pub const SK: &str = "sk";
/// The first global index, where a table has one.
pub const GSI1: &str = "gsi1";
/// Its partition key.
pub const GSI1_PK: &str = "gsi1pk";
/// Its sort key.
pub const GSI1_SK: &str = "gsi1sk";
/// The second global index, where a table has one.
pub const GSI2: &str = "gsi2";
/// Its partition key.
pub const GSI2_PK: &str = "gsi2pk";
/// Its sort key.
pub const GSI2_SK: &str = "gsi2sk";
/// The third global index, where a table has one.
pub const GSI3: &str = "gsi3";
/// Its partition key.
pub const GSI3_PK: &str = "gsi3pk";
/// Its sort key.
pub const GSI3_SK: &str = "gsi3sk";
/// Every index with its keys, in the order in which tables have them.
pub const INDEXES: [(&str, &str, &str); 3] =
    [(GSI1, GSI1_PK, GSI1_SK), (GSI2, GSI2_PK, GSI2_SK), (GSI3, GSI3_PK, GSI3_SK)];
/// Seconds since 1970 after which DynamoDB may delete the row, days late; never trusted as a clock.
pub const EXPIRES: &str = "expires";

/// The attributes that an index has of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    All,
    KeysOnly,
    /// Keys and these attributes.
    Include(&'static [&'static str]),
}

/// What a table must look like for a store to work on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schema {
    /// Its logical id in the template.
    pub logical_id: &'static str,
    /// The environment variable that carries its name.
    pub variable: &'static str,
    /// The projections of those of [`INDEXES`] that it has, in their order.
    pub indexes: &'static [Projection],
    /// Whether rows carry `expires`.
    pub expiring: bool,
}

/// Id leases: one row a lane.
pub const IDS: Schema =
    Schema { logical_id: "IdsTable", variable: "IDS_TABLE", indexes: &[], expiring: false };

/// Accounts, keys, the audit trail and the answers kept for repeated requests.
pub const ACCOUNTS: Schema = Schema {
    logical_id: "AccountsTable",
    variable: "ACCOUNTS_TABLE",
    indexes: &[Projection::All],
    expiring: true,
};

/// Limits: shared counters, rules, the firewall, and requests of the last hours.
pub const LIMITS: Schema =
    Schema { logical_id: "LimitsTable", variable: "LIMITS_TABLE", indexes: &[], expiring: true };
