//! A function that does nothing, for comparison: what Lambda's runtime alone costs.

use lambda_http::{Body, Error, Request, Response, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(answer)).await
}

async fn answer(_: Request) -> Result<Response<Body>, Error> {
    Ok(Response::new(Body::Empty))
}
