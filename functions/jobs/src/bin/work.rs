//! The Lambda function `work`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_queue(jobs::work::function)
}
