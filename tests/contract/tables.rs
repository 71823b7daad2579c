//! Tables have the keys that the store needs, and are protected against loss.

use local::systems;
use store::schema::{self, EXPIRES, INDEXES, PK, SK, Schema};
use template::{AttributeType, Billing, DeletionPolicy, Projection};

use super::stack;

/// Every table that a store works on.
fn schemas() -> Vec<Schema> {
    systems::all().iter().flat_map(|system| system.tables().to_vec()).collect()
}

#[test]
fn every_table_has_the_keys_that_the_store_uses() {
    assert_eq!(stack().tables.len(), schemas().len());
    for wanted in schemas() {
        let table = stack().tables.iter().find(|table| table.logical_id == wanted.logical_id);
        let table = table.unwrap_or_else(|| panic!("no table {}", wanted.logical_id));
        let name = &table.logical_id;
        assert_eq!((table.key.hash.as_str(), table.key.range.as_deref()), (PK, Some(SK)), "{name}");
        assert!(table.attributes.iter().all(|a| a.kind == AttributeType::String), "{name}");
        assert_eq!(table.indexes.len(), wanted.indexes.len(), "{name}");
        let wanted_indexes = INDEXES.iter().zip(wanted.indexes);
        for (index, ((known, hash, range), projection)) in table.indexes.iter().zip(wanted_indexes)
        {
            let key = (index.key.hash.as_str(), index.key.range.as_deref());
            assert_eq!((index.name.as_str(), key), (*known, (*hash, Some(*range))), "{name}");
            let expected = match projection {
                schema::Projection::All => Projection::All,
                schema::Projection::KeysOnly => Projection::KeysOnly,
                schema::Projection::Include(names) => {
                    Projection::Include(names.iter().map(|&name| name.to_owned()).collect())
                }
            };
            assert_eq!(index.projection, expected, "{name} {known}");
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
        let wanted =
            schemas().into_iter().find(|wanted| wanted.logical_id == table.logical_id).unwrap();
        for function in &stack().functions {
            if let Some(value) = function.environment.get(wanted.variable) {
                assert_eq!(*value, table.name, "{}", function.logical_id);
            }
        }
    }
}
