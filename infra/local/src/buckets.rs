//! Buckets in memory, for clouds that keep nothing: what is put can be read and listed, no more.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::{TryStreamExt, stream};
use parking_lot::Mutex;
use s3s::dto::{
    GetObjectInput, GetObjectOutput, HeadObjectInput, HeadObjectOutput, ListObjectsV2Input,
    ListObjectsV2Output, Object, PutObjectInput, PutObjectOutput, StreamingBlob,
};
use s3s::{S3, S3Request, S3Response, S3Result, s3_error};

/// Every object of every bucket, by bucket and key.
#[derive(Debug, Clone, Default)]
pub struct Buckets {
    objects: Arc<Mutex<BTreeMap<(String, String), Bytes>>>,
    names: Arc<Vec<String>>,
}

impl Buckets {
    /// Empty buckets with these names.
    pub fn new(names: Vec<String>) -> Self {
        Self { objects: Arc::default(), names: Arc::new(names) }
    }

    /// Keys and bytes of a bucket's objects, by key.
    pub fn objects(&self, bucket: &str) -> Vec<(String, Bytes)> {
        let objects = self.objects.lock();
        let wanted = objects.iter().filter(|((name, _), _)| name == bucket);
        wanted.map(|((_, key), bytes)| (key.clone(), bytes.clone())).collect()
    }

    fn check(&self, bucket: &str) -> S3Result<()> {
        if self.names.iter().any(|name| name == bucket) {
            Ok(())
        } else {
            Err(s3_error!(NoSuchBucket))
        }
    }
}

#[async_trait::async_trait]
impl S3 for Buckets {
    async fn put_object(
        &self,
        request: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let PutObjectInput { bucket, key, body, .. } = request.input;
        self.check(&bucket)?;
        let mut bytes = BytesMut::new();
        if let Some(mut body) = body {
            while let Some(part) = body.try_next().await.map_err(|_| s3_error!(IncompleteBody))? {
                bytes.extend_from_slice(&part);
            }
        }
        let mut objects = self.objects.lock();
        objects.insert((bucket, key), bytes.freeze());
        Ok(S3Response::new(PutObjectOutput::default()))
    }

    async fn get_object(
        &self,
        request: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let GetObjectInput { bucket, key, .. } = request.input;
        self.check(&bucket)?;
        let objects = self.objects.lock();
        let bytes = objects.get(&(bucket, key)).cloned().ok_or_else(|| s3_error!(NoSuchKey))?;
        let length = i64::try_from(bytes.len()).ok();
        let body = StreamingBlob::wrap(stream::iter([Ok::<_, std::io::Error>(bytes)]));
        Ok(S3Response::new(GetObjectOutput {
            body: Some(body),
            content_length: length,
            ..GetObjectOutput::default()
        }))
    }

    async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let HeadObjectInput { bucket, key, .. } = request.input;
        self.check(&bucket)?;
        let objects = self.objects.lock();
        let bytes = objects.get(&(bucket, key)).ok_or_else(|| s3_error!(NoSuchKey))?;
        let content_length = i64::try_from(bytes.len()).ok();
        Ok(S3Response::new(HeadObjectOutput { content_length, ..HeadObjectOutput::default() }))
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let ListObjectsV2Input { bucket, prefix, .. } = request.input;
        self.check(&bucket)?;
        let prefix = prefix.unwrap_or_default();
        let objects = self.objects(&bucket).into_iter().filter(|(key, _)| key.starts_with(&prefix));
        let contents: Vec<Object> = objects
            .map(|(key, bytes)| Object {
                key: Some(key),
                size: i64::try_from(bytes.len()).ok(),
                ..Object::default()
            })
            .collect();
        Ok(S3Response::new(ListObjectsV2Output {
            key_count: i32::try_from(contents.len()).ok(),
            contents: Some(contents),
            name: Some(bucket),
            ..ListObjectsV2Output::default()
        }))
    }
}
