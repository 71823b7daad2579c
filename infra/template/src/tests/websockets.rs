//! WebSocket APIs, right and wrong.

use super::{parse, stack};
use crate::WebSocketRoute;

const API: &str = r"Transform: AWS::Serverless-2016-10-31
Resources:
  Echo: { Type: AWS::Serverless::Function, Properties: { CodeUri: target/lambda/echo } }
  Socket:
    Type: AWS::ApiGatewayV2::Api
    Properties: { Name: s, ProtocolType: WEBSOCKET, RouteSelectionExpression: $request.body.action }
  Connect:
    Type: AWS::ApiGatewayV2::Route
    Properties: { ApiId: !Ref Socket, RouteKey: $connect, Target: !Sub 'integrations/${ToEcho}' }
  Say:
    Type: AWS::ApiGatewayV2::Route
    Properties:
      ApiId: !Ref Socket
      RouteKey: say
      AuthorizationType: NONE
      Target: !Join ['/', [integrations, !Ref ToEcho]]
  ToEcho:
    Type: AWS::ApiGatewayV2::Integration
    Properties:
      ApiId: !Ref Socket
      IntegrationType: AWS_PROXY
      IntegrationUri: !Sub arn:aws:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/${Echo.Arn}/invocations
  Stage:
    Type: AWS::ApiGatewayV2::Stage
    Properties: { ApiId: !Ref Socket, StageName: live, AutoDeploy: true }
  Plain: { Type: AWS::ApiGatewayV2::Api, Properties: { Name: h, ProtocolType: HTTP } }
  PlainStage:
    Type: AWS::ApiGatewayV2::Stage
    Properties: { ApiId: !Ref Plain, StageName: $default, DeploymentId: d }
Outputs:
  Url: { Value: !Sub 'wss://${Socket}.execute-api.${AWS::Region}.amazonaws.com/${Stage}' }
";

#[test]
fn an_api_is_put_together_from_its_parts_in_any_order() {
    let stack = stack(API);
    let [api] = stack.websockets.as_slice() else { panic!("one API") };
    assert_eq!((api.logical_id.as_str(), api.id.as_str()), ("Socket", "test-socket"));
    assert_eq!((api.selection.as_slice(), api.line), (["action".to_owned()].as_slice(), 4));
    assert_eq!(api.stages, ["live"]);
    let route = |key: &str, line| WebSocketRoute { key: key.into(), function: "Echo".into(), line };
    assert_eq!(api.routes, [route("$connect", 7), route("say", 10)]);
    assert_eq!(stack.outputs["Url"], "wss://test-socket.execute-api.us-east-1.amazonaws.com/live");
}

#[test]
fn a_route_may_be_named_deeper_in_a_message() {
    for (written, names) in
        [("${request.body.a.b}", vec!["a", "b"]), ("$request.body.a", vec!["a"])]
    {
        let stack = stack(&API.replace("$request.body.action", &format!("'{written}'")));
        assert_eq!(stack.websockets[0].selection, names);
    }
}

#[test]
fn what_is_not_understood_is_refused_with_its_line() {
    for (from, to, expected) in [
        (
            "$request.body.action",
            "$request.header.x",
            "6:79: Resources.Socket.Properties.RouteSelectionExpression: expected an expression \
             like $request.body.action, found `$request.header.x`",
        ),
        (
            "AuthorizationType: NONE",
            "AuthorizationType: AWS_IAM",
            "10:3: Resources.Say.Properties: authorizers are not understood; use \
             `AuthorizationType: NONE`",
        ),
        (
            "AuthorizationType: NONE",
            "RouteResponseSelectionExpression: $default",
            "10:3: Resources.Say.Properties: route responses are not understood; post to the \
             connection",
        ),
        (
            "RouteKey: say",
            "RouteKey: $connect",
            "10:3: Resources.Say.Properties: the API has a \
             route `$connect` already",
        ),
        (
            "[integrations, !Ref ToEcho]",
            "[integrations, nothing]",
            "10:3: Resources.Say.Properties: `Target` must be `integrations/` and an integration \
             of the same API",
        ),
        (
            "AWS_PROXY",
            "MOCK",
            "17:3: Resources.ToEcho.Properties: only integrations of type AWS_PROXY are \
             understood, not MOCK",
        ),
        (
            "${Echo.Arn}/invocations",
            "${Echo}/invocations",
            "17:3: Resources.ToEcho.Properties: `IntegrationUri` must be arn:aws:apigateway:\
             ${AWS::Region}:lambda:path/2015-03-31/functions/${Function.Arn}/invocations, with a \
             function of this template",
        ),
        (
            "AutoDeploy: true",
            "AutoDeploy: false",
            "23:3: Resources.Stage.Properties: a stage serves nothing without `AutoDeploy: true` \
             or a DeploymentId",
        ),
        (
            "RouteKey: say",
            "RoutKey: say",
            "14:7: Resources.Say.Properties.RoutKey: unknown property (did you mean `RouteKey`?)",
        ),
    ] {
        let error = parse(&API.replace(from, to), &[]).map(|_| ()).expect_err(to);
        assert_eq!(error.to_string(), format!("t.yaml:{expected}"), "{to}");
    }
}
