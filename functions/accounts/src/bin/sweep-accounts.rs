//! The Lambda function `sweep-accounts`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_schedule(accounts::sweep::function)
}
