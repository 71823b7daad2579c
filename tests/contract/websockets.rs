//! WebSocket APIs: every route leads to a function that API Gateway may call, and functions know where to post.

use std::collections::BTreeSet;

use super::stack;

#[test]
fn every_websocket_api_routes_connect_default_and_disconnect() {
    assert!(!stack().websockets.is_empty());
    for api in &stack().websockets {
        let keys: BTreeSet<&str> = api.routes.iter().map(|route| route.key.as_str()).collect();
        for key in ["$connect", "$default", "$disconnect"] {
            assert!(keys.contains(key), "{} has no {key}", api.logical_id);
        }
        assert_eq!(api.stages.len(), 1, "{}", api.logical_id);
    }
}

/// Without a permission API Gateway answers every handshake with 500.
#[test]
fn every_route_of_a_socket_may_call_its_function() {
    for api in &stack().websockets {
        let called: BTreeSet<&str> = api.routes.iter().map(|it| it.function.as_str()).collect();
        for name in called {
            let function = stack().functions.iter().find(|it| it.logical_id == name).unwrap();
            let source = format!("arn:aws:execute-api:us-east-1:000000000000:{}/*", api.id);
            let allowed = stack().resources_of("AWS::Lambda::Permission").any(|permission| {
                let given = &permission.properties;
                given["FunctionName"] == function.name.as_str()
                    && given["Action"] == "lambda:InvokeFunction"
                    && given["Principal"] == "apigateway.amazonaws.com"
                    && given["SourceArn"] == source.as_str()
            });
            assert!(allowed, "{} may not call {name}", api.logical_id);
        }
    }
}

#[test]
fn functions_that_post_to_connections_know_where_and_may() {
    let mut posting = 0;
    for function in &stack().functions {
        let mut statements = function.policies.iter();
        let may = statements.any(|it| it.actions == ["execute-api:ManageConnections"]);
        let address = function.environment.get("FEED_SOCKET");
        assert_eq!(may, address.is_some(), "{}", function.logical_id);
        if let Some(address) = address {
            let api = &stack().websockets[0];
            let host = format!("https://{}.execute-api.us-east-1.amazonaws.com", api.id);
            assert_eq!(*address, format!("{host}/{}", api.stages[0]), "{}", function.logical_id);
            posting += 1;
        }
    }
    assert!(posting > 0);
}
