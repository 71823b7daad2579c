//! The order of an answer, what follows it, and the next event.

use std::sync::{Arc, Mutex};

use lambda_runtime::service_fn;

use super::*;
use crate::edge::tests::host;
use crate::edge::{Edge, EdgeReply, EdgeResponse, Phase};

type Seen = Arc<Mutex<Vec<&'static str>>>;

fn invocation() -> LambdaInvocation {
    let (parts, ()) = http::Response::new(()).into_parts();
    LambdaInvocation {
        parts,
        body: bytes::Bytes::default(),
        context: lambda_runtime::Context::default(),
    }
}

#[tokio::test]
async fn the_rest_follows_the_posting_also_of_an_answer_that_could_not_be_posted() {
    let seen = Seen::default();
    let edge = Edge::new(
        &host(Arc::default()),
        "sample",
        Arc::clone(&seen),
        |_, _| EdgeReply::Ready(EdgeResponse::new(204)),
        |seen: &Seen, moment| {
            assert_eq!(moment, Phase::AfterResponse);
            seen.lock().unwrap().push("after");
            Box::pin(std::future::ready(()))
        },
    );
    for posts in [true, false] {
        let posting = Arc::clone(&seen);
        let inner = service_fn(move |_: LambdaInvocation| {
            let posting = Arc::clone(&posting);
            async move {
                tokio::task::yield_now().await;
                posting.lock().unwrap().push("posted");
                if posts { Ok(()) } else { Err(Error::from("refused")) }
            }
        });
        let mut service = AfterResponse::new(&edge).layer(inner);
        assert_eq!(service.call(invocation()).await.is_ok(), posts);
        assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), ["posted", "after"]);
    }
}
