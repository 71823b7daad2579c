//! The endpoint for SDKs: tells SQS from SNS by the request, and turns outcomes into HTTP.

mod codes;

use std::error::Error as _;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};

use crate::engine::Queues;
use crate::error::{Code, Error, Failure, Refused, Result};
use crate::sns::{self, Params};
use crate::sqs;
pub(crate) use codes::{sns_name, sqs_names};

impl Queues {
    /// Answers one AWS request: SQS in the JSON 1.0 protocol, SNS in the Query protocol.
    pub async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        // SDKs only log the id of an answer, so a failure to draw one changes nothing.
        let request_id = self.new_id().unwrap_or_default();
        let (head, body) = request.into_parts();
        let target = head.headers.get("x-amz-target").and_then(|value| value.to_str().ok());
        let action = target.and_then(|target| target.strip_prefix("AmazonSQS."));
        let answer = if let Some(action) = action {
            Answer::json(sqs::answer(self, action, &body).await)
        } else {
            let params = Params::read(head.uri.query().unwrap_or_default(), &body);
            Answer::xml(&params, sns::answer(self, &params), &request_id)
        };
        answer.into_response(&request_id)
    }
}

/// An answer before it is HTTP.
struct Answer {
    status: StatusCode,
    content_type: &'static str,
    /// For clients that still go by the error codes of the Query protocol; boto3 does.
    query_error: Option<String>,
    body: String,
}

impl Answer {
    fn json(outcome: Result<Value>) -> Self {
        let (status, query_error, body) = match outcome {
            Ok(body) => (StatusCode::OK, None, body),
            Err(Error::Refused(Refused { code, message })) => {
                let (shape, query_code) = sqs_names(code);
                let shape = format!("com.amazonaws.sqs#{shape}");
                let body = json!({"__type": shape, "message": message});
                (StatusCode::BAD_REQUEST, Some(format!("{query_code};Sender")), body)
            }
            Err(Error::Failed(failure)) => {
                let shape = "com.amazonaws.sqs#InternalFailure";
                let body = json!({"__type": shape, "message": explain(&failure)});
                let query_error = Some("InternalFailure;Receiver".to_owned());
                (StatusCode::INTERNAL_SERVER_ERROR, query_error, body)
            }
        };
        let content_type = "application/x-amz-json-1.0";
        Self { status, content_type, query_error, body: body.to_string() }
    }

    fn xml(params: &Params, outcome: Result<String>, request_id: &str) -> Self {
        let (status, body) = match outcome {
            Ok(result) => {
                let action = params.text("Action").unwrap_or_default();
                (StatusCode::OK, sns::xml::response(action, &result, request_id))
            }
            Err(Error::Refused(Refused { code, message })) => {
                let body = sns::xml::error("Sender", sns_name(code), &message, request_id);
                let missing = matches!(code, Code::TopicNotFound | Code::SubscriptionNotFound);
                (if missing { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST }, body)
            }
            Err(Error::Failed(failure)) => {
                let message = explain(&failure);
                let body = sns::xml::error("Receiver", "InternalError", &message, request_id);
                (StatusCode::INTERNAL_SERVER_ERROR, body)
            }
        };
        Self { status, content_type: "text/xml", query_error: None, body }
    }

    fn into_response(self, request_id: &str) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        if let Ok(id) = HeaderValue::from_str(request_id) {
            headers.insert("x-amzn-requestid", id);
        }
        if let Some(value) = self.query_error.and_then(|text| HeaderValue::try_from(text).ok()) {
            headers.insert("x-amzn-query-error", value);
        }
        response
    }
}

/// The failure with its causes, for the developer whose disk is full.
fn explain(failure: &Failure) -> String {
    let mut text = failure.to_string();
    let mut cause = failure.source();
    while let Some(present) = cause {
        text = format!("{text}: {present}");
        cause = present.source();
    }
    text
}
