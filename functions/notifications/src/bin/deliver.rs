//! The Lambda function `deliver`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_queue(notifications::deliver::function)
}
