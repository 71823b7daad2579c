//! The Lambda function `sweep-jobs`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_schedule(jobs::sweep::function)
}
