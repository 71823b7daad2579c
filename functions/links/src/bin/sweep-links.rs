//! The Lambda function `sweep-links`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_schedule(links::sweep::function)
}
