//! The Lambda function `notify`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_http(notifications::http::function)
}
