//! The Lambda function `feed-socket`: wiring only.

fn main() -> Result<(), lambda_runtime::Error> {
    boundary::run_socket(feed::feed_socket::function)
}
