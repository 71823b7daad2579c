//! The Lambda function `shorten`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_http(links::http::function)
}
