//! The Lambda function `tend-keys`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_queue(tend_keys::function)
}
