//! Mistakes in the form of a template.

use super::{check, check_property};

#[test]
fn broken_yaml_is_reported_where_it_breaks() {
    check(&[
        (
            r"  A:
    Type: Custom::P
   Properties: 1",
            "5:4: not YAML: while parsing a block mapping, did not find expected key",
        ),
        ("  A: [b", "4:1: not YAML: while parsing a flow sequence, expected ',' or ']'"),
        (
            r"  A: { Type: Custom::P }
---
B: 1",
            "4:1: a template is one document, not several",
        ),
    ]);
}

#[test]
fn yaml_that_templates_cannot_use_is_refused() {
    check(&[
        (
            r"  A: &a { Type: Custom::P }
  B: *a",
            "4:6: Resources.B: CloudFormation does not know YAML aliases",
        ),
        (
            "  A: { Type: Custom::P, <<: { a: b } }",
            "3:25: Resources.A: a key must be a plain string",
        ),
        (
            r"  A: { Type: Custom::P }
  A: { Type: Custom::P }",
            "4:3: Resources.A: duplicate key, first used on line 3",
        ),
    ]);
}

#[test]
fn an_unknown_intrinsic_is_named() {
    check_property(
        "Custom::P",
        &[
            (
                "A: !Reff It",
                "6:10: Resources.It.Properties.A: unsupported intrinsic `!Reff` (did you mean \
                 `Ref`?)",
            ),
            ("A: !Base64 text", "6:10: Resources.It.Properties.A: unsupported intrinsic `!Base64`"),
            (
                r#"A: { "Fn::Cidr": [a, b] }"#,
                "6:12: Resources.It.Properties.A: unsupported intrinsic `Fn::Cidr`",
            ),
            (
                r#"A: { "Fn::Ref": It }"#,
                "6:12: Resources.It.Properties.A: unsupported intrinsic `Fn::Ref` (did you mean \
                 `Ref`?)",
            ),
            (
                r#"A: { "Fn::Sub": a, B: b }"#,
                "6:12: Resources.It.Properties.A: `Fn::Sub` must be the only key of its map",
            ),
        ],
    );
}

#[test]
fn a_key_without_value_is_reported() {
    check(&[
        (
            r"  A:
    Type: Custom::P
    Properties:
      X:
      Y: 1",
            "6:8: Resources.A.Properties.X: has no value",
        ),
        (
            "  A: { Type: Custom::P, Properties: }",
            "3:35: Resources.A.Properties: expected a map, found nothing",
        ),
    ]);
}

#[test]
fn a_misspelt_section_or_attribute_is_reported() {
    check(&[
        (
            r"  A: { Type: Custom::P }
Output:
  X: { Value: 1 }",
            "4:1: Output: unknown property (did you mean `Outputs`?)",
        ),
        (
            "  A: { Type: Custom::P, Propertys: {} }",
            "3:25: Resources.A.Propertys: unknown property (did you mean `Properties`?)",
        ),
        (
            r"  A: { Type: Custom::P }
Globals:
  Function:
    Timout: 3",
            "6:5: Globals.Function.Timout: unknown property (did you mean `Timeout`?)",
        ),
        (
            r"  A: { Type: Custom::P }
Globals:
  Api: {}",
            "5:3: Globals.Api: unknown property",
        ),
    ]);
}

#[test]
fn a_resource_needs_a_proper_id_and_type() {
    check(&[
        (
            "  A_b: { Type: Custom::P }",
            "3:3: Resources.A_b: a logical id consists of letters and digits",
        ),
        ("  A: { Properties: {} }", "3:3: Resources.A: missing required property `Type`"),
        (
            "  A: { Type: Queue }",
            "3:14: Resources.A.Type: expected a resource type such as AWS::SQS::Queue, found \
             `Queue`",
        ),
        (
            "  A: { Type: AWS::SQS::Queu }",
            "3:14: Resources.A.Type: unknown type `AWS::SQS::Queu` (did you mean \
             `AWS::SQS::Queue`?)",
        ),
        (
            "  A: { Type: AWS::Serverless::SimpleTable }",
            "3:14: Resources.A.Type: unsupported resource type `AWS::Serverless::SimpleTable`",
        ),
        (
            "  A: { Type: Custom::P, DeletionPolicy: Keep }",
            "3:41: Resources.A.DeletionPolicy: expected one of Delete, Retain, \
             RetainExceptOnCreate, Snapshot, found `Keep`",
        ),
    ]);
}

#[test]
fn mappings_outputs_and_parameters_are_checked_too() {
    check(&[
        (
            r"  A: { Type: Custom::P }
Mappings:
  M: { a: { b: !Ref A } }",
            "5:16: Mappings.M.a.b: `Ref` is not allowed in Mappings",
        ),
        (
            r"  A: { Type: Custom::P }
Outputs:
  X: { Description: x }",
            "5:3: Outputs.X: missing required property `Value`",
        ),
        (
            r"  A: { Type: Custom::P }
Outputs:
  X: { Value: [a] }",
            "5:15: Outputs.X.Value: expected a string, found a list",
        ),
        (
            r"  A: { Type: Custom::P }
Parameters:
  X: { Type: Strin, Default: a }",
            "5:14: Parameters.X.Type: unknown parameter type `Strin`",
        ),
        (
            r#"  A: { Type: Custom::P }
Parameters:
  X: { Type: String, Default: a, AllowedPattern: "(" }"#,
            "5:50: Parameters.X.AllowedPattern: not a pattern: found open group without \
             closing ')'",
        ),
    ]);
}
