//! The Lambda function `sweep-notifications`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_schedule(notifications::sweep::function)
}
