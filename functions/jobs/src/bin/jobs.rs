//! The Lambda function `jobs`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_http(jobs::http::function)
}
