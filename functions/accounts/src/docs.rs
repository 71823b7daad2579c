//! The sentences about this function in the OpenAPI document.

use boundary::openapi::{Doc, shape};

use crate::{
    AccountPatch, AccountView, AuditView, KeyCreated, KeyView, KeyWanted, MeView, NewAccountBody,
    PageQuery, PageView,
};

/// What the section is about.
pub const ABOUT: &str = "Who is calling: accounts, API keys and roles.";

const USER: (&str, &str) = ("userId", "The account.");
const ONCE: (&str, &str, bool) = (
    "Idempotency-Key",
    "A repeat with the same key and body within 24 hours gets the first answer.",
    false,
);

/// One entry an operation.
pub fn docs() -> Vec<Doc> {
    let mut docs = accounts();
    docs.extend(keys());
    docs
}

fn accounts() -> Vec<Doc> {
    vec![
        Doc { answer: Some(shape::<MeView>()), ..Doc::new("readMe", "Who am I?") },
        Doc {
            body: Some(shape::<NewAccountBody>()),
            headers: &[ONCE],
            status: 201,
            answer: Some(shape::<AccountView>()),
            problems: &[409],
            ..Doc::new("createAccount", "Create an account")
        },
        Doc {
            description: "By user id. A new account may take a moment to appear.",
            query: Some(shape::<PageQuery>()),
            answer: Some(shape::<PageView<AccountView>>()),
            ..Doc::new("listAccounts", "List accounts")
        },
        Doc {
            description: "Admins read any account, users their own.",
            path: &[USER],
            answer: Some(shape::<AccountView>()),
            problems: &[404],
            ..Doc::new("readAccount", "Read an account")
        },
        Doc {
            description: "Admins change anything, users their own name.",
            path: &[USER],
            headers: &[("If-Match", "The `ETag` of the version you read.", true)],
            body: Some(shape::<AccountPatch>()),
            answer: Some(shape::<AccountView>()),
            problems: &[403, 404, 409, 412, 428],
            ..Doc::new("amendAccount", "Change an account")
        },
        Doc {
            description: "Its keys stop within 60 seconds and never work again. The last admin stays.",
            path: &[USER],
            status: 204,
            problems: &[404, 409],
            ..Doc::new("disableAccount", "Disable an account")
        },
        Doc {
            description: "Every change to the account and its keys: what, who, when; newest first.",
            path: &[USER],
            query: Some(shape::<PageQuery>()),
            answer: Some(shape::<PageView<AuditView>>()),
            problems: &[404],
            ..Doc::new("readAudit", "Read the audit trail")
        },
    ]
}

fn keys() -> Vec<Doc> {
    vec![
        Doc {
            description: "The secret is shown this once; only its hash is kept. A repeated request \
                          gets the same answer without it.",
            path: &[USER],
            headers: &[ONCE],
            body: Some(shape::<KeyWanted>()),
            body_optional: true,
            status: 201,
            answer: Some(shape::<KeyCreated>()),
            problems: &[404, 409],
            ..Doc::new("createKey", "Create an API key")
        },
        Doc {
            description: "Oldest first, revoked ones for 30 days. Never the secret.",
            path: &[USER],
            query: Some(shape::<PageQuery>()),
            answer: Some(shape::<PageView<KeyView>>()),
            problems: &[404],
            ..Doc::new("listKeys", "List API keys")
        },
        Doc {
            description: "It stops within 60 seconds everywhere.",
            path: &[USER, ("keyId", "The part of the key before the dot.")],
            status: 204,
            problems: &[404],
            ..Doc::new("revokeKey", "Revoke an API key")
        },
    ]
}
