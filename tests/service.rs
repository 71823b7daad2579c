//! Health, the document, the page, CORS, and unknown paths.

use http::Method;
use tests::{Lab, root_key};

#[tokio::test(start_paused = true)]
async fn the_service_describes_itself() {
    let lab = Lab::new();
    let health = lab.call(Method::GET, "/health").send().await;
    assert_eq!((health.status.as_u16(), health.text("status")), (200, "ok"));
    let document = lab.call(Method::GET, "/openapi.json").send().await;
    assert_eq!(document.text("openapi"), "3.1.0");
    let page = lab.call(Method::GET, "/docs").send().await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_path_or_method_is_a_problem() {
    let lab = Lab::new();
    let unknown = lab.call(Method::GET, "/api/v1/nothing").send().await;
    assert_eq!((unknown.status.as_u16(), unknown.text("type")), (404, "/docs#not-found"));
    assert_eq!(unknown.text("instance"), "/api/v1/nothing");
    assert_eq!(unknown.header("content-type"), "application/problem+json");
    for (method, path, allow) in [
        (Method::DELETE, "/health", "GET, HEAD"),
        (Method::GET, "/api/v1/ids", "POST"),
        (Method::PUT, "/api/v1/accounts/ada", "DELETE, GET, HEAD, PATCH"),
    ] {
        let answer = lab.call(method, path).by(&root_key()).send().await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, allow), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn browsers_may_send_a_preflight() {
    let lab = Lab::new();
    let preflight = lab
        .call(Method::OPTIONS, "/api/v1/ids")
        .header("origin", "https://app.example")
        .header("access-control-request-method", "POST")
        .send()
        .await;
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), "*");
    assert!(preflight.header("access-control-allow-headers").contains("authorization"));
    let answer =
        lab.call(Method::GET, "/health").header("origin", "https://a.example").send().await;
    assert!(answer.header("access-control-expose-headers").contains("etag"));
}

#[tokio::test(start_paused = true)]
async fn bodies_have_a_limit_at_the_function_and_at_the_gateway() {
    let lab = Lab::new();
    for (size, status) in [(70 * 1024, 413), (11 * 1024 * 1024, 413), (60 * 1024, 400)] {
        let call = lab.call(Method::POST, "/api/v1/accounts").by(&root_key());
        let answer = call.bytes(vec![b'x'; size]).send().await;
        assert_eq!(answer.status, status, "{size}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
    }
}

#[tokio::test(start_paused = true)]
async fn a_trace_goes_in_and_comes_out() {
    let lab = Lab::new();
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let answer = lab.call(Method::GET, "/health").header("traceparent", traceparent).send().await;
    assert!(answer.header("traceparent").starts_with("00-0af7651916cd43dd8448eb211c80319c-"));
    assert!(lab.lines().iter().any(|line| line.contains("0af7651916cd43dd8448eb211c80319c")));
}
