//! The Lambda function `limits`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_http(limits::http::function)
}
