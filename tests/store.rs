//! The machinery of rows, on a fresh table.

mod table;
