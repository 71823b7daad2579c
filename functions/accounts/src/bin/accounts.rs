//! The Lambda function `accounts`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_http(accounts::http::function)
}
