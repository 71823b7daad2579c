//! The Lambda function `ids`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_http(ids::http::function)
}
