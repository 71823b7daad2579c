//! Every table and index, and how the database is opened.

use rusqlite::{Connection, config::DbConfig};

/// `visible_at` alone decides whether a message can be received. `receipt` is the newest receipt
/// and is empty until the message is received, which tells delayed messages from those in flight.
/// `received` counts the receives from the present queue, `received_before` those from the queue
/// that a dead letter came from. Rows are numbered once and for all (AUTOINCREMENT), so that an old
/// receipt handle never fits a new message.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS queues (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    attributes TEXT NOT NULL,
    tags TEXT NOT NULL DEFAULT '{}',
    created_at INTEGER NOT NULL,
    modified_at INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    queue INTEGER NOT NULL REFERENCES queues (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    visible_at INTEGER NOT NULL,
    received INTEGER NOT NULL DEFAULT 0,
    received_before INTEGER NOT NULL DEFAULT 0,
    first_received_at INTEGER,
    receipt TEXT,
    group_id TEXT,
    trace_header TEXT,
    source TEXT,
    attributes TEXT,
    body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS messages_by_visibility
    ON messages (queue, visible_at, seq, group_id);
CREATE INDEX IF NOT EXISTS messages_by_age ON messages (queue, sent_at);
CREATE INDEX IF NOT EXISTS messages_received
    ON messages (queue, received, visible_at) WHERE received > 0;
CREATE INDEX IF NOT EXISTS groups_in_flight
    ON messages (queue, visible_at, group_id) WHERE group_id IS NOT NULL AND receipt IS NOT NULL;
CREATE TABLE IF NOT EXISTS moves (
    handle TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    destination TEXT,
    started_at INTEGER NOT NULL,
    found INTEGER NOT NULL,
    moved INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS topics (
    name TEXT PRIMARY KEY,
    attributes TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS subscriptions (
    arn TEXT PRIMARY KEY,
    topic TEXT NOT NULL REFERENCES topics (name) ON DELETE CASCADE,
    endpoint TEXT NOT NULL,
    attributes TEXT NOT NULL,
    UNIQUE (topic, endpoint)
);
";

/// Sets the connection up and creates what is missing.
pub(crate) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // In WAL mode NORMAL hands every commit to the operating system before it is acknowledged, so
    // that killing the process loses nothing. Only the loss of power could, which a development
    // machine can bear; FULL would cost a disk flush for every message.
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Otherwise statements would be planned again whenever their parameters change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(TABLES)
}
