//! Wrong templates, each with the whole message it must produce.

mod events;
mod references;
mod resources;
mod syntax;

use super::parse;

/// Checks each template against its message, which starts with `line:column`. Two lines come before
/// the text of a case, so that begins on line 3.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    check_each(cases, |text| format!("{text}\n"));
}

/// The same for one property, on line 6, of a resource called `It`.
#[track_caller]
fn check_property(kind: &str, cases: &[(&str, &str)]) {
    check_each(cases, |property| {
        format!("  It:\n    Type: {kind}\n    Properties:\n      {property}\n")
    });
}

#[track_caller]
fn check_each(cases: &[(&str, &str)], resources: impl Fn(&str) -> String) {
    for (case, expected) in cases {
        let resources = resources(case);
        let text = format!("Transform: AWS::Serverless-2016-10-31\nResources:\n{resources}");
        let error = parse(&text, &[]).map(|_| ()).expect_err(case).to_string();
        assert_eq!(error, format!("t.yaml:{expected}"), "{case}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let path = std::path::Path::new("no/such/template.yaml");
    let error = crate::load(path, &std::collections::BTreeMap::new()).unwrap_err().to_string();
    assert!(error.starts_with("no/such/template.yaml:1:1: cannot be read: "), "{error}");
}

#[test]
fn nesting_without_end_is_refused() {
    let text = format!("Resources: {}", "[".repeat(200));
    let error = parse(&text, &[]).unwrap_err();
    assert_eq!((error.line, error.reason.as_str()), (1, "nested too deeply"));
}

#[test]
fn a_template_without_content_or_resources_is_refused() {
    let message = |text: &str| parse(text, &[]).unwrap_err().to_string();
    assert_eq!(message(""), "t.yaml:1:1: the template is empty");
    assert_eq!(message("- a\n"), "t.yaml:1:1: expected a map, found a list");
    let missing = "t.yaml:1:1: missing required property `Resources`";
    assert_eq!(message("Description: nothing\n"), missing);
    let sam = "Resources:\n  Api: { Type: AWS::Serverless::HttpApi }\n";
    let needed = "t.yaml:2:3: Resources.Api: `AWS::Serverless::HttpApi` needs `Transform: \
                  AWS::Serverless-2016-10-31`";
    assert_eq!(message(sam), needed);
}
