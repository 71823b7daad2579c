//! Parameters: whose value counts, and what it may be.

use super::parse;

const TEXT: &str = r#"
Parameters:
  Stage: { Type: String, Default: prod, AllowedPattern: "[a-z]+" }
  Size: { Type: String, Default: s, AllowedValues: [s, l] }
  Days: { Type: Number, Default: 30, MinValue: 1, MaxValue: 365 }
  Code: { Type: String, Default: abc, MinLength: 2, MaxLength: 4 }
Resources:
  Queue: { Type: AWS::SQS::Queue }
Outputs:
  All: { Value: !Sub "${Stage} ${Size} ${Days} ${Code}" }
"#;

#[test]
fn defaults_count_until_the_caller_says_otherwise() {
    assert_eq!(parse(TEXT, &[]).unwrap().outputs["All"], "prod s 30 abc");
    let stack = parse(TEXT, &[("Stage", "dev"), ("Days", "7")]).unwrap();
    assert_eq!(stack.outputs["All"], "dev s 7 abc");
    assert_eq!(stack.parameters["Days"], "7");
}

#[test]
fn a_value_that_breaks_a_constraint_is_refused_at_the_parameter() {
    let cases = [
        (
            "Stage",
            "Prod",
            "t.yaml:3:3: Parameters.Stage: `Prod` does not match the pattern `[a-z]+`",
        ),
        (
            "Stage",
            "prod1",
            "t.yaml:3:3: Parameters.Stage: `prod1` does not match the pattern `[a-z]+`",
        ),
        ("Size", "m", "t.yaml:4:3: Parameters.Size: `m` is not one of s, l"),
        ("Days", "ten", "t.yaml:5:3: Parameters.Days: expected a number, found `ten`"),
        ("Days", "0", "t.yaml:5:3: Parameters.Days: `0` is too small"),
        ("Days", "366", "t.yaml:5:3: Parameters.Days: `366` is too large"),
        (
            "Code",
            "a",
            "t.yaml:6:3: Parameters.Code: `a` is 1 characters long, which is not allowed",
        ),
    ];
    for (name, value, expected) in cases {
        assert_eq!(parse(TEXT, &[(name, value)]).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_value_for_an_unknown_parameter_is_refused() {
    let error = parse(TEXT, &[("Stages", "dev")]).unwrap_err();
    let expected = "t.yaml:2:1: Parameters: a value is given for unknown parameter `Stages` (did \
                    you mean `Stage`?)";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_parameter_without_default_needs_a_value() {
    let text = "Parameters:\n  Stage: { Type: String }\nResources: {}\n";
    let error = parse(text, &[]).unwrap_err();
    let expected = "t.yaml:2:3: Parameters.Stage: no value is given and there is no default";
    assert_eq!(error.to_string(), expected);
    assert!(parse(text, &[("Stage", "dev")]).is_ok());
}
