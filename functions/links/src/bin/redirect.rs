//! The Lambda function `redirect`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_edge(links::redirect::function)
}
