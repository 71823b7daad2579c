//! The Lambda function `feed`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_http(feed::http::function)
}
