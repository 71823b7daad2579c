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
/// Seconds since 1970 after which DynamoDB may delete the row, days late; never trusted as a clock.
pub const EXPIRES: &str = "expires";

/// What a table must look like for this crate to work on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its logical id in the template.
    pub logical_id: &'static str,
    /// The environment variable that carries its name.
    pub variable: &'static str,
    /// Whether it has `gsi1`.
    pub indexed: bool,
    /// Whether rows carry `expires`.
    pub expiring: bool,
}

/// Id leases: one row a lane.
pub const IDS: Table =
    Table { logical_id: "IdsTable", variable: "IDS_TABLE", indexed: false, expiring: false };

/// Accounts, keys, the audit trail and the answers kept for repeated requests.
pub const ACCOUNTS: Table = Table {
    logical_id: "AccountsTable",
    variable: "ACCOUNTS_TABLE",
    indexed: true,
    expiring: true,
};

/// Every table.
pub const TABLES: &[Table] = &[IDS, ACCOUNTS];
