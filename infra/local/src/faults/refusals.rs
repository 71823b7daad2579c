//! The error responses that faults produce.

use bytes::Bytes;
use http::{Response, StatusCode};

use super::ServiceCall;
use crate::services::Service;

pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
}

pub(super) const THROTTLED: Refusal =
    Refusal { status: StatusCode::BAD_REQUEST, code: "ThrottlingException" };
pub(super) const SERVER_ERROR: Refusal =
    Refusal { status: StatusCode::INTERNAL_SERVER_ERROR, code: "InternalServerError" };

pub(super) fn refusal(service: Service, refusal: &Refusal) -> Response<Bytes> {
    let body = match service {
        Service::DynamoDb | Service::Sqs | Service::Connections => {
            format!(r#"{{"__type":"com.amazonaws#{0}","message":"{0}"}}"#, refusal.code)
        }
        Service::Sns | Service::Ses | Service::S3 => format!(
            "<ErrorResponse><Error><Type>Receiver</Type><Code>{0}</Code><Message>{0}</Message>\
             </Error><RequestId>0</RequestId></ErrorResponse>",
            refusal.code
        ),
    };
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = refusal.status;
    response
}

/// A transaction cancelled by another one, with a reason for each of its items.
pub(super) fn conflict(call: &ServiceCall) -> Response<Bytes> {
    let request: serde_json::Value = serde_json::from_slice(&call.body).unwrap_or_default();
    let items = request["TransactItems"].as_array().map_or(1, Vec::len);
    let mut reasons = vec![serde_json::json!({ "Code": "None" }); items];
    reasons[0] = serde_json::json!({
        "Code": "TransactionConflict",
        "Message": "Transaction is ongoing for the item",
    });
    let body = serde_json::json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons",
        "CancellationReasons": reasons,
    });
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}
