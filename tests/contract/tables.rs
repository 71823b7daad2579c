//! Tables as the store needs them and as nobody wants to lose them.

use store::schema::{EXPIRES, INDEXES, PK, SK, TABLES};
use template::{AttributeType, Billing, DeletionPolicy, Projection};

use super::stack;

#[test]
fn every_table_has_the_keys_that_the_store_uses() {
    assert_eq!(stack().tables.len(), TABLES.len());
    for wanted in TABLES {
        let table = stack().tables.iter().find(|table| table.logical_id == wanted.logical_id);
        let table = table.unwrap_or_else(|| panic!("no table {}", wanted.logical_id));
        let name = &table.logical_id;
        assert_eq!((table.key.hash.as_str(), table.key.range.as_deref()), (PK, Some(SK)), "{name}");
        assert!(table.attributes.iter().all(|a| a.kind == AttributeType::String), "{name}");
        let indexes: Vec<_> = table
            .indexes
            .iter()
            .map(|index| (index.name.as_str(), index.key.hash.as_str(), index.key.range.as_deref()))
            .collect();
        let expected: Vec<_> = INDEXES[..wanted.indexes]
            .iter()
            .map(|&(index, hash, range)| (index, hash, Some(range)))
            .collect();
        assert_eq!(indexes, expected, "{name}");
        for index in &table.indexes {
            let expected = match (name.as_str(), index.name.as_str()) {
                // A heartbeat changes neither of these two attributes, and so writes to no list.
                ("JobsTable", "gsi1" | "gsi3") => {
                    Projection::Include(vec!["status".to_owned(), "kind".to_owned()])
                }
                // A page of a log is read from the rows; whoever looks needs to know no more than that.
                ("NotificationsTable", "gsi1") => Projection::Include(vec!["ways".to_owned()]),
                ("NotificationsTable", "gsi2") => {
                    Projection::Include(vec!["priority".to_owned(), "class".to_owned()])
                }
                // What is listed is read from the rows; what is hot has to be weighed first.
                ("FeedTable", "gsi1") => Projection::KeysOnly,
                ("FeedTable", "gsi2") => Projection::Include(vec!["people".to_owned()]),
                _ => Projection::All,
            };
            assert_eq!(index.projection, expected, "{name} {}", index.name);
        }
        assert_eq!(table.ttl_attribute.as_deref(), wanted.expiring.then_some(EXPIRES), "{name}");
    }
}

#[test]
fn every_table_survives_a_mistake() {
    for table in &stack().tables {
        let name = &table.logical_id;
        assert!(table.point_in_time_recovery, "{name} has no point-in-time recovery");
        assert!(table.encrypted, "{name} is not encrypted");
        assert_eq!(table.deletion_policy, DeletionPolicy::Retain, "{name}");
        assert_eq!(table.billing, Billing::OnDemand, "{name}");
    }
}

#[test]
fn functions_that_name_a_table_are_given_its_name() {
    for table in &stack().tables {
        let wanted = TABLES.iter().find(|wanted| wanted.logical_id == table.logical_id).unwrap();
        for function in &stack().functions {
            if let Some(value) = function.environment.get(wanted.variable) {
                assert_eq!(*value, table.name, "{}", function.logical_id);
            }
        }
    }
}
