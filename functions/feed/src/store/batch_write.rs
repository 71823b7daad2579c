//! Many writes that may each be repeated: 25 in a call, some calls at a time, until all are taken.

use std::time::Duration;

use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, WriteRequest};
use domain::{Failure, Result};
use futures::{StreamExt, TryStreamExt, stream};

use super::FeedStore;
use store::row::Item;

const BATCH: usize = 25;

const AT_ONCE: usize = 4;

/// The store may leave rows for later so often.
const TRIES: u32 = 8;

pub(super) enum BatchWrite {
    /// A row whose content follows from its key, or that replaces what it names.
    Put(Item),
    /// A row that is gone afterwards, by its key.
    Delete(Item),
}

impl FeedStore {
    pub(super) async fn write_all(
        &self,
        writes: impl IntoIterator<Item = BatchWrite>,
        action: &'static str,
    ) -> Result {
        let requests: Vec<WriteRequest> =
            writes.into_iter().map(|write| request(write, action)).collect::<Result<_, _>>()?;
        let calls = requests.chunks(BATCH).map(|some| self.write_some(some.to_vec(), action));
        let calls: Vec<_> = calls.collect();
        stream::iter(calls).buffer_unordered(AT_ONCE).try_collect().await
    }

    async fn write_some(&self, mut left: Vec<WriteRequest>, action: &'static str) -> Result {
        for tried in 0..TRIES {
            let done = self
                .client
                .batch_write_item()
                .request_items(&self.table, std::mem::take(&mut left))
                .send()
                .await
                .map_err(|cause| Failure::new(action, cause))?;
            left = done
                .unprocessed_items
                .and_then(|mut all| all.remove(&self.table))
                .unwrap_or_default();
            if left.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20 << tried)).await;
        }
        Err(Failure::new(action, "the store keeps leaving rows for later"))
    }
}

fn request(write: BatchWrite, action: &'static str) -> Result<WriteRequest> {
    let failed = |cause| Failure::new(action, cause);
    Ok(match write {
        BatchWrite::Put(item) => {
            let put = PutRequest::builder().set_item(Some(item)).build().map_err(failed)?;
            WriteRequest::builder().put_request(put).build()
        }
        BatchWrite::Delete(key) => {
            let delete = DeleteRequest::builder().set_key(Some(key)).build().map_err(failed)?;
            WriteRequest::builder().delete_request(delete).build()
        }
    })
}
