//! Tables of policies with what they let through and what they do not.

use serde_json::json;

use super::*;

/// One rule per line: the rule, values that it lets through, values that it does not.
const RULES: &str = r#"
["a",                                ["a"],             ["A", "ab", null]]
[3,                                  [3, 3.0, 3e0],     [4, "3"]]
[true,                               [true],            [false, "true", 1]]
[null,                               [null],            ["", 0]]
[{"prefix": "ab"},                   ["abc"],           ["cab", 1]]
[{"suffix": ".png"},                 ["x.png"],         ["x.jpg"]]
[{"equals-ignore-case": "YES"},      ["yes"],           ["yess"]]
[{"exists": true},                   ["a", null],       [{"b": 1}, []]]
[{"exists": false},                  [[]],              ["a"]]
[{"numeric": [">=", 10]},            [10, 11.5],        [9, "10"]]
[{"numeric": [">", 1, "<=", 5]},     [5],               [1, 5.1]]
[{"numeric": ["<", 0]},              [-1],              [0]]
[{"numeric": ["=", 2]},              [2.0],             [3]]
[{"cidr": "10.0.0.0/24"},            ["10.0.0.9"],      ["10.0.1.9"]]
[{"cidr": "0.0.0.0/0"},              ["10.0.0.9"],      ["::1", "x"]]
[{"cidr": "2001:db8::/32"},          ["2001:db8::1"],   ["2001:db9::1"]]
[{"anything-but": "x"},              ["y", 1],          ["x"]]
[{"anything-but": ["x", 5]},         ["y", ["x", "y"]], ["x", 5, ["x"]]]
[{"anything-but": {"prefix": "x"}},  ["ax"],            ["xa"]]
[{"anything-but": {"suffix": ["x", "y"]}}, ["xa"],      ["ay"]]
"#;

#[test]
fn a_rule_lets_through_what_it_describes_and_nothing_else() {
    for line in RULES.trim().lines() {
        let (rule, let_through, kept_out): (Value, Vec<Value>, Vec<Value>) =
            serde_json::from_str(line).unwrap();
        let policy = json!({"key": [rule]});
        for value in let_through {
            assert!(matches_body(&policy, &json!({"key": value})), "{rule} should take {value}");
        }
        for value in kept_out {
            assert!(!matches_body(&policy, &json!({"key": value})), "{rule} should refuse {value}");
        }
    }
}

#[test]
fn a_missing_key_matches_only_where_absence_is_asked_for() {
    let policy = json!({"key": [{"anything-but": "x"}]});
    assert!(!matches_body(&policy, &json!({"other": 1})));
    for (policy, body) in [
        (json!({"key": [{"exists": false}]}), json!({})),
        (json!({"key": ["x", {"exists": false}]}), json!({"other": 1})),
        (json!({"a": {"b": [{"exists": false}]}}), json!({})),
        (json!({"a": {"b": [{"exists": false}]}}), json!({"a": 5})),
    ] {
        assert!(matches_body(&policy, &body), "{policy} {body}");
    }
}

#[test]
fn every_key_must_match_and_one_rule_of_each_list() {
    let policy = json!({"type": ["order", {"prefix": "inv"}], "amount": [{"numeric": [">=", 10]}]});
    for (body, expected) in [
        (json!({"type": "order", "amount": 10}), true),
        (json!({"type": "invoice", "amount": 50}), true),
        (json!({"type": "order", "amount": 9}), false),
        (json!({"type": "other", "amount": 50}), false),
        (json!({"type": "order"}), false),
    ] {
        assert_eq!(matches_body(&policy, &body), expected, "{body}");
    }
    assert!(matches_body(&json!({}), &json!({"anything": 1})));
}

#[test]
fn nested_keys_and_lists_in_the_body_are_looked_into() {
    let policy = json!({"detail": {"state": ["ok"], "n": [1]}, "tags": ["t1"]});
    for (body, expected) in [
        (json!({"detail": {"state": "ok", "n": 1}, "tags": ["t0", "t1"]}), true),
        (json!({"detail": {"state": "ok", "n": 1}, "tags": "t1"}), true),
        (json!({"detail": {"state": "ok", "n": 1}, "tags": []}), false),
        (json!({"detail": "ok", "tags": ["t1"]}), false),
        (json!({"detail": [{"n": 2}, {"state": "ok", "n": 1}], "tags": ["t1"]}), true),
        // Both keys must be found in the same element.
        (
            json!({"detail": [{"state": "ok", "n": 2}, {"state": "x", "n": 1}], "tags": ["t1"]}),
            false,
        ),
    ] {
        assert_eq!(matches_body(&policy, &body), expected, "{body}");
    }
}

#[test]
fn or_needs_one_of_its_policies_and_the_keys_beside_it() {
    let policy = json!({"kind": ["k"], "$or": [{"a": [1]}, {"b": [2], "c": [3]}]});
    for (body, expected) in [
        (json!({"kind": "k", "a": 1}), true),
        (json!({"kind": "k", "b": 2, "c": 3}), true),
        (json!({"kind": "k", "b": 2}), false),
        (json!({"a": 1}), false),
    ] {
        assert_eq!(matches_body(&policy, &body), expected, "{body}");
    }
}

#[test]
fn attributes_are_matched_by_their_type() {
    let attribute = |data_type: &str, value: &str| {
        let value = AttributeValue { data_type: data_type.into(), ..AttributeValue::string(value) };
        MessageAttributes::from([("key".to_owned(), value)])
    };
    let binary = AttributeValue {
        data_type: "Binary".into(),
        string_value: None,
        binary_value: Some(vec![1]),
    };
    let table = [
        (json!({"key": ["10"]}), attribute("String", "10"), true),
        (json!({"key": [10]}), attribute("String", "10"), false),
        (json!({"key": [10]}), attribute("Number", "10.0"), true),
        (json!({"key": [0.5]}), attribute("Number", ".5"), true),
        (json!({"key": ["10"]}), attribute("Number", "10"), false),
        (json!({"key": ["b"]}), attribute("String.Array", r#"["a", "b"]"#), true),
        (json!({"key": ["c"]}), attribute("String.Array", r#"["a", "b"]"#), false),
        (json!({"key": [true]}), attribute("String.Array", "[true]"), true),
        (json!({"other": [{"exists": false}]}), attribute("String", "x"), true),
        (json!({"key": [{"exists": true}]}), [("key".to_owned(), binary)].into(), false),
    ];
    for (policy, attributes, expected) in table {
        assert_eq!(matches_attributes(&policy, &attributes), expected, "{policy} {attributes:?}");
    }
}

#[test]
fn a_malformed_policy_is_refused_and_lets_nothing_through() {
    for policy in [
        json!([]),
        json!({"a": "x"}),
        json!({"a": []}),
        json!({"a": [["x"]]}),
        json!({"a": [{"nonsense": 1}]}),
        json!({"a": [{"prefix": 1}]}),
        json!({"a": [{"prefix": "a", "suffix": "b"}]}),
        json!({"a": [{"numeric": []}]}),
        json!({"a": [{"numeric": [">"]}]}),
        json!({"a": [{"numeric": ["~", 1]}]}),
        json!({"a": [{"numeric": [">", "1"]}]}),
        json!({"a": [{"anything-but": []}]}),
        json!({"a": [{"anything-but": {"numeric": [">", 1]}}]}),
        json!({"a": [{"cidr": "10.0.0.0/33"}]}),
        json!({"$or": [{"a": ["x"]}]}),
    ] {
        assert!(FilterPolicy::read(&policy).is_err(), "{policy}");
        assert!(!matches_body(&policy, &json!({"a": "x"})), "{policy}");
    }
}

#[test]
fn a_nested_policy_says_so() {
    assert!(!FilterPolicy::read(&json!({"a": ["x"]})).unwrap().is_nested());
    assert!(FilterPolicy::read(&json!({"a": {"b": ["x"]}})).unwrap().is_nested());
    let or = json!({"$or": [{"a": ["x"]}, {"a": {"b": ["x"]}}]});
    assert!(FilterPolicy::read(&or).unwrap().is_nested());
}
