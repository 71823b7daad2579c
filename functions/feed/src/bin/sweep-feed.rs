//! The Lambda function `sweep-feed`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_schedule(feed::sweep::function)
}
