//! Uploads: a link to put a picture or a film to, and whether it is there.

use std::sync::Arc;

use ::http::StatusCode;
use boundary::http::{Caller, Json, Operation, Problem, Result, State};
use domain::accounts::{Role, UserId};
use domain::feed::MediaId;
use domain::hex;
use futures::future::try_join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::bucket::PRESIGNED_SECONDS;

use super::views::media_key;
use crate::http::state::App;

/// Bytes of an upload, at most.
const MAX_UPLOAD_BYTES: u64 = 100 * 1024 * 1024;

/// What browsers show. Anything that can carry a script is missing.
const CONTENT_TYPES: [&str; 7] =
    ["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "video/mp4", "video/webm"];

/// What is to be uploaded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UploadBody {
    /// `image/jpeg`, `image/png`, `image/gif`, `image/webp`, `image/avif`, `video/mp4` or `video/webm`.
    content_type: String,
    /// How large it is, at most 104857600.
    bytes: u64,
}

/// Where to put it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UploadView {
    /// Name it in `media` of a post, or as the `avatar` of your profile.
    media_id: String,
    /// `PUT` the bytes here, with exactly this `Content-Type` and `Content-Length`.
    upload_url: String,
    content_type: String,
    bytes: u64,
    /// For how many seconds the link works.
    expires_in: u64,
}

pub(super) const PREPARE: Operation =
    Operation::post("/api/v1/media", "prepareUpload", "Upload a picture or a film")
        .description(
            "Answers with a link to `PUT` the bytes to, and the name by which a post shows \
             them.",
        )
        .role(Role::Member)
        .statuses(&[201]);

pub(super) async fn prepare(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<UploadBody>,
) -> Result<(StatusCode, Json<UploadView>)> {
    if !CONTENT_TYPES.contains(&body.content_type.as_str()) {
        return Err(Problem::field("contentType", format!("one of {}", CONTENT_TYPES.join(", "))));
    }
    if !(1..=MAX_UPLOAD_BYTES).contains(&body.bytes) {
        return Err(Problem::field("bytes", format!("1 to {MAX_UPLOAD_BYTES}")));
    }
    let name = hex(&app.entropy.bytes::<12>());
    let id = MediaId::parse("mediaId", &name)?;
    let key = media_key(&caller.user_id, &id);
    let upload_url = app.media.presign_exact_upload(&key, &body.content_type, body.bytes)?;
    let view = UploadView {
        media_id: name,
        upload_url,
        content_type: body.content_type,
        bytes: body.bytes,
        expires_in: PRESIGNED_SECONDS,
    };
    // It is nowhere before it is uploaded, so there is no `Location`.
    Ok((StatusCode::CREATED, Json(view)))
}

/// Refuses names of uploads that their owner has not made, or not finished.
pub(super) async fn check(app: &App, owner: &UserId, media: &[MediaId]) -> Result {
    let there = media.iter().map(|id| {
        let key = media_key(owner, id);
        async move { app.media.exists(&key).await }
    });
    if try_join_all(there).await?.into_iter().all(|is_there| is_there) {
        return Ok(());
    }
    let rule = "uploads of your own that are finished: `POST /api/v1/media`, then `PUT` the bytes";
    Err(Problem::field("media", rule))
}
