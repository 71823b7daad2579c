//! Mistakes in what a template refers to.

use super::{check, check_property};

#[test]
fn a_name_that_does_not_exist_is_reported_with_the_closest_one() {
    check_property(
        "Custom::P",
        &[
            (
                "A: !Ref Itt",
                "6:10: Resources.It.Properties.A: unknown Ref `Itt` (did you mean `It`?)",
            ),
            (
                "A: [!Ref AWS::Regoin]",
                "6:11: Resources.It.Properties.A[0]: unknown Ref `AWS::Regoin` (did you mean \
                 `AWS::Region`?)",
            ),
            (r#"A: !Sub "${Absent}""#, "6:10: Resources.It.Properties.A: unknown Ref `Absent`"),
            (
                "A: !GetAtt Ti.Arn",
                "6:10: Resources.It.Properties.A: Fn::GetAtt names unknown resource `Ti`",
            ),
            (
                r#"A: !Sub "${Itt.Arn}""#,
                "6:10: Resources.It.Properties.A: Fn::GetAtt names unknown resource `Itt` (did \
                 you mean `It`?)",
            ),
            ("A: !If [Maybe, 1, 2]", "6:10: Resources.It.Properties.A: unknown condition `Maybe`"),
            (
                "A: !FindInMap [Sizes, a, b]",
                "6:10: Resources.It.Properties.A: Fn::FindInMap names unknown map `Sizes`",
            ),
        ],
    );
}

#[test]
fn an_attribute_that_does_not_exist_is_reported_with_those_that_do() {
    check(&[
        (
            r"  Work: { Type: AWS::SQS::Queue }
  P: { Type: Custom::P, Properties: { A: !GetAtt Work.Url } }",
            "4:42: Resources.P.Properties.A: `Work` (AWS::SQS::Queue) has no attribute `Url`; \
             known are Arn, QueueName, QueueUrl",
        ),
        (
            r"  P: { Type: Custom::P }
  O: { Type: Custom::P, Properties: { A: !GetAtt P.StreamArn } }",
            "4:42: Resources.O.Properties.A: `P` (Custom::P) has no attribute `StreamArn`; \
             known are Arn",
        ),
    ]);
}

#[test]
fn an_intrinsic_with_the_wrong_arguments_says_what_it_takes() {
    check_property(
        "Custom::P",
        &[
            (
                "A: !GetAtt It",
                "6:10: Resources.It.Properties.A: Fn::GetAtt takes `Resource.Attribute` or \
                 [Resource, Attribute]",
            ),
            (
                r#"A: !Sub "${AWS::Region""#,
                "6:10: Resources.It.Properties.A: Fn::Sub has a `${` without its `}`",
            ),
            (
                "A: !Sub [a, b]",
                "6:10: Resources.It.Properties.A: Fn::Sub takes a string, or [string, map of \
                 names]",
            ),
            (
                "A: !If [Maybe, 1]",
                "6:10: Resources.It.Properties.A: Fn::If takes [condition, value if true, value \
                 if false]",
            ),
            (
                "A: !Select [2, [a, b]]",
                "6:10: Resources.It.Properties.A: Fn::Select wants item 2 of a list of 2",
            ),
            (
                "A: !Select [a, [b]]",
                "6:10: Resources.It.Properties.A: Fn::Select takes [index, list]",
            ),
            (
                "A: !Join [a, b, c]",
                "6:10: Resources.It.Properties.A: Fn::Join takes [separator, list of strings]",
            ),
            (
                r#"A: !Split ["", a]"#,
                "6:10: Resources.It.Properties.A: Fn::Split takes [separator, string]",
            ),
            (
                "A: !FindInMap [a]",
                "6:10: Resources.It.Properties.A: Fn::FindInMap takes [map, key, key]",
            ),
            ("A: !Ref [a]", "6:10: Resources.It.Properties.A: Ref takes a name"),
            (
                "A: !Equals [a, b]",
                "6:10: Resources.It.Properties.A: `Fn::Equals` belongs in the Conditions section",
            ),
        ],
    );
}

#[test]
fn a_condition_that_does_not_exist_or_hold_is_reported() {
    check(&[
        (
            r"  P:
    Type: Custom::P
    Condition: Maybe",
            "5:16: Resources.P.Condition: unknown condition `Maybe`",
        ),
        (
            r"  P: { Type: Custom::P, Condition: Never }
  O: { Type: Custom::P, Properties: { A: !Ref P } }
Conditions:
  Never: !Equals [a, b]",
            "4:42: Resources.O.Properties.A: `P` does not exist, since its condition `Never` \
             is false",
        ),
        (
            r"  P: { Type: Custom::P }
Conditions:
  Odd: !Ref P",
            "5:8: Conditions.Odd: expected a condition function such as Fn::Equals, found \
             `Ref`",
        ),
        (
            r"  P: { Type: Custom::P }
Conditions:
  Odd: !Not [!Equals [a, b], !Equals [a, b]]",
            "5:8: Conditions.Odd: Fn::Not takes a list of one condition",
        ),
        (
            r"  P: { Type: Custom::P }
Conditions:
  Odd: !Equals [a]",
            "5:8: Conditions.Odd: Fn::Equals takes a list of two values",
        ),
        (
            r"  P: { Type: Custom::P }
Conditions:
  Even: !Equals [a, a]
  Odd: !Not [!Condition Evn]",
            "6:14: Conditions.Odd[0]: unknown condition `Evn` (did you mean `Even`?)",
        ),
    ]);
}

#[test]
fn circles_are_found_rather_than_followed() {
    check(&[
        (
            r"  A: { Type: Custom::P, Properties: { X: !Ref B } }
  B: { Type: Custom::P, Properties: { X: !Ref C } }
  C: { Type: Custom::P, DependsOn: A }",
            "5:36: Resources.C.DependsOn: circular dependency: A -> B -> C -> A",
        ),
        (
            "  A: { Type: Custom::P, Properties: { X: !Ref A } }",
            "3:42: Resources.A.Properties.X: circular dependency: A -> A",
        ),
        (
            r"  A: { Type: AWS::SQS::Queue, Properties: { QueueName: !Ref B } }
  B: { Type: AWS::SQS::Queue, Properties: { QueueName: !Ref A } }",
            "3:56: Resources.A.Properties.QueueName: circular reference: the name of `B` \
             depends on itself",
        ),
        (
            r"  A: { Type: Custom::P }
Conditions:
  X: !Not [!Condition Y]
  Y: !Not [!Condition X]",
            "6:12: Conditions.Y[0]: circular reference: `X` depends on itself",
        ),
    ]);
}

#[test]
fn depends_on_must_name_a_resource() {
    check(&[(
        r"  Queue: { Type: Custom::P }
  P:
    Type: Custom::P
    DependsOn: Quue",
        "6:16: Resources.P.DependsOn: unknown resource `Quue` (did you mean `Queue`?)",
    )]);
}
