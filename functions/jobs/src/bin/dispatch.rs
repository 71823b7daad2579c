//! The Lambda function `dispatch`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_queue(jobs::dispatch::function)
}
