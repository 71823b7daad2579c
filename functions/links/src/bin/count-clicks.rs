//! The Lambda function `count-clicks`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_queue(links::count_clicks::function)
}
