//! The Lambda function `fan-out`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_queue(feed::fan_out::function)
}
