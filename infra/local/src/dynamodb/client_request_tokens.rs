//! Transactions that name their request: carried out once, however often they are sent.
//!
//! The emulator underneath does that too, but walks through every token of the last ten minutes for each
//! transaction, which a hundred thousand of them make unbearable. Here a token costs the same however
//! many there are. A replay repeats the first answer; DynamoDB would give the cost of reading instead.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};

use bytes::Bytes;
use dynoxide::Database;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::{handle, response};

/// DynamoDB remembers a token for so long.
const TOKEN_LIFETIME_MS: i64 = 600_000;

/// Requests that were carried out lately, by their tokens.
#[derive(Debug, Default)]
pub(crate) struct ClientRequestTokens {
    done: HashMap<String, (u64, Bytes)>,
    /// The oldest first.
    order: VecDeque<(i64, String)>,
}

impl ClientRequestTokens {
    /// Carries out a transaction unless it was carried out lately.
    pub(crate) fn transact(&mut self, db: &Database, body: &[u8], now_ms: i64) -> Response<Bytes> {
        const OPERATION: &str = "TransactWriteItems";
        let mut request: Value = serde_json::from_slice(body).unwrap_or_default();
        let token = request["ClientRequestToken"].as_str().unwrap_or_default().to_owned();
        // The emulator refuses an invalid token in DynamoDB's own words.
        if !(1..=36).contains(&token.len()) {
            return handle(db, OPERATION, body);
        }
        self.remove_expired(now_ms);
        request["ClientRequestToken"] = Value::Null;
        let without_token = request.to_string();
        let mut hasher = DefaultHasher::new();
        request["TransactItems"].to_string().hash(&mut hasher);
        let fingerprint = hasher.finish();
        match self.done.get(&token) {
            Some((done, answer)) if *done == fingerprint => {
                return response(StatusCode::OK, answer.clone());
            }
            Some(_) => {
                let body = json!({
                    "__type": "com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException",
                    "message": "this token was used for another request",
                });
                return response(StatusCode::BAD_REQUEST, Bytes::from(body.to_string()));
            }
            None => {}
        }
        let answer = handle(db, OPERATION, without_token.as_bytes());
        if answer.status().is_success() {
            self.order.push_back((now_ms, token.clone()));
            self.done.insert(token, (fingerprint, answer.body().clone()));
        }
        answer
    }

    fn remove_expired(&mut self, now_ms: i64) {
        while self.order.front().is_some_and(|(at, _)| now_ms - at > TOKEN_LIFETIME_MS) {
            if let Some((_, token)) = self.order.pop_front() {
                self.done.remove(&token);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database() -> Database {
        let db = Database::memory().unwrap();
        let table = json!({
            "TableName": "counts", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
            "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
        });
        assert!(handle(&db, "CreateTable", table.to_string().as_bytes()).status().is_success());
        db
    }

    /// Counts one more, under a condition that holds only the first time.
    fn count(token: &str, by: &str) -> String {
        let update = json!({
            "TableName": "counts", "Key": { "pk": { "S": "it" } },
            "UpdateExpression": "ADD n :by", "ConditionExpression": "attribute_not_exists(n)",
            "ExpressionAttributeValues": { ":by": { "N": by } },
        });
        json!({ "TransactItems": [{ "Update": update }], "ClientRequestToken": token }).to_string()
    }

    #[test]
    fn a_token_is_remembered_for_ten_minutes_and_stands_for_one_request() {
        let (db, mut tokens) = (database(), ClientRequestTokens::default());
        let mut send = |body: String, at| tokens.transact(&db, body.as_bytes(), at).status();
        assert_eq!(send(count("one", "1"), 0), 200);
        assert_eq!(send(count("one", "1"), TOKEN_LIFETIME_MS), 200, "it is the same request");
        assert_eq!(send(count("one", "2"), TOKEN_LIFETIME_MS), 400, "it is another one");
        assert_eq!(send(count("two", "1"), TOKEN_LIFETIME_MS), 400, "the condition does not hold");
        assert_eq!(send(count("two", "1"), TOKEN_LIFETIME_MS), 400, "what failed is tried again");
        assert_eq!(send(count("one", "1"), TOKEN_LIFETIME_MS + 1), 400, "it was forgotten");
        assert_eq!(send(count(&"x".repeat(37), "1"), 0), 400);
        assert_eq!(send(count("", "1"), 0), 400);
    }
}
