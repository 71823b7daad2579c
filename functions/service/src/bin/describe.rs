//! The Lambda function `describe`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_http(service::http::function)
}
