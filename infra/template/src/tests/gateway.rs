//! HTTP APIs whose routes are in nested templates, right and wrong.

use std::path::Path;

use crate::{Result, Stack};

const OUTER: &str = "Transform: AWS::Serverless-2016-10-31
Resources:
  Api: { Type: AWS::ApiGatewayV2::Api, Properties: { Name: a, ProtocolType: HTTP } }
  Stage:
    Type: AWS::ApiGatewayV2::Stage
    Properties: { ApiId: !Ref Api, StageName: $default, AutoDeploy: true }
  Inner:
    Type: AWS::Serverless::Application
    Properties: { Location: inner.yaml, Parameters: { ApiId: !Ref Api, Switch: 'on' } }
";

const INNER: &str = "Transform: AWS::Serverless-2016-10-31
Parameters: { ApiId: { Type: String }, Switch: { Type: String } }
Conditions: { SwitchedOn: !Equals [!Ref Switch, 'on'] }
Resources:
  Echo:
    Type: AWS::Serverless::Function
    Condition: SwitchedOn
    Properties: { CodeUri: ../target/lambda/echo/ }
  ToEcho:
    Type: AWS::ApiGatewayV2::Integration
    Condition: SwitchedOn
    Properties:
      ApiId: !Ref ApiId
      IntegrationType: AWS_PROXY
      IntegrationUri: !GetAtt Echo.Arn
      PayloadFormatVersion: '2.0'
  Permission:
    Type: AWS::Lambda::Permission
    Condition: SwitchedOn
    Properties:
      FunctionName: !Ref Echo
      Action: lambda:InvokeFunction
      Principal: apigateway.amazonaws.com
      SourceArn: !Sub 'arn:aws:execute-api:${AWS::Region}:${AWS::AccountId}:${ApiId}/*'
  Greedy:
    Type: AWS::ApiGatewayV2::Route
    Condition: SwitchedOn
    Properties: { ApiId: !Ref ApiId, RouteKey: 'ANY /echo/{proxy+}', Target: !Sub 'integrations/${ToEcho}' }
";

fn read(outer: &str, inner: &str) -> Result<Stack> {
    let files = |_: &Path| Ok(inner.to_owned());
    crate::parse_among(&files, "test", Path::new("t.yaml"), outer, &[].into())
}

#[test]
fn a_nested_template_adds_its_routes_to_the_api_around_it() {
    let stack = read(OUTER, INNER).unwrap();
    assert_eq!(stack.apis[0].stage, "$default");
    let [route] = stack.functions[0].routes.as_slice() else { panic!("one route") };
    assert_eq!(
        (route.key.to_string().as_str(), &route.api_id),
        ("ANY /echo/{proxy+}", &stack.apis[0].id)
    );
}

#[test]
fn what_is_switched_off_has_no_route() {
    let stack = read(&OUTER.replace("Switch: 'on'", "Switch: 'off'"), INNER).unwrap();
    assert!(stack.functions.is_empty());
    assert_eq!((stack.apis.len(), stack.nested[0].stack.resources.len()), (1, 0));
}

#[test]
fn a_route_that_would_not_work_is_refused_in_its_own_file() {
    for (from, to, expected) in [
        (
            "Action: lambda:InvokeFunction",
            "Action: lambda:Get",
            "API Gateway may not invoke `Echo`",
        ),
        ("${ApiId}/*", "other/*", "API Gateway may not invoke `Echo`"),
        ("'2.0'", "'1.0'", "`PayloadFormatVersion` must be \"2.0\", found 1.0"),
        ("!GetAtt Echo.Arn", "echo", "`IntegrationUri` must be the ARN of a function"),
        ("'ANY /echo/{proxy+}'", "echo", "`RouteKey` must be $default, or a method and a path"),
    ] {
        let error = read(OUTER, &INNER.replace(from, to)).map(|_| ()).expect_err(to).to_string();
        assert!(error.starts_with("inner.yaml:") && error.contains(expected), "{error}");
    }
}
