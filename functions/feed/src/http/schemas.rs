//! Posts as callers write them: read by the domain itself, and described here for the OpenAPI document.

use domain::feed::{PostDraft, PostEdit};
use schemars::JsonSchema;
use serde::Deserialize;

// A draft that the domain reads; without a doc comment, so that it goes by the name and the words of its shape.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "DraftShape")]
pub(crate) struct DraftBody(pub(crate) PostDraft);

/// A post to write.
#[derive(JsonSchema)]
#[schemars(rename = "NewPost", rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
struct DraftShape {
    /// At most 5,000 characters; may be left out if there is media.
    text: Option<String>,
    /// Names of finished uploads of your own, at most 10.
    media: Option<Vec<String>>,
    /// `PUBLIC`, `FRIENDS` (who follow you and whom you follow) or `PRIVATE`; public if left out.
    privacy: Option<String>,
    /// Where it was written, at most 100 characters.
    location: Option<String>,
    /// `#topic` and `@person`, at most 30.
    tags: Option<Vec<String>>,
}

// A change that the domain reads; without a doc comment, so that it goes by the name and the words of its shape.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "EditShape")]
pub(crate) struct EditBody(pub(crate) PostEdit);

/// What changes about a post. What is left out stays, and media always do.
#[derive(JsonSchema)]
#[schemars(rename = "PostChange", rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
struct EditShape {
    /// New words.
    text: Option<String>,
    /// Who may read it from now on.
    privacy: Option<String>,
    /// Where it was written; empty for nowhere.
    location: Option<String>,
    /// All tags.
    tags: Option<Vec<String>>,
}
