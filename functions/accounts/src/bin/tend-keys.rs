//! The Lambda function `tend-keys`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_queue(accounts::tend_keys::function)
}
