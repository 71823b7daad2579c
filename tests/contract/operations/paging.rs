//! Lists: what `limit` and `cursor` may be, wherever there are any.

use tests::Lab;

use super::sampled_operations;

#[tokio::test(start_paused = true)]
async fn a_wrong_limit_or_cursor_is_named_by_every_list() {
    let lab = Lab::new();
    let mut tried = 0;
    for it in sampled_operations() {
        let wrong: &[(&str, &str)] = &[
            ("limit", "0"),
            ("limit", "-1"),
            ("limit", "many"),
            ("limit", "1000000"),
            ("cursor", "%21"),
            ("cursor", "bm90IGEgY3Vyc29y"),
        ];
        if it.parameter("query", "cursor").is_none() {
            continue;
        }
        for (name, value) in wrong {
            if it.parameter("query", name).is_none() {
                continue;
            }
            let path = it.event["rawPath"].as_str().unwrap();
            let target = format!("{path}?{name}={value}");
            let call = lab.call(it.method(), &target).by(&tests::root_key());
            let answer = call.send().await;
            // The owner of the list is looked up first, and need not exist.
            if answer.status == 404 {
                continue;
            }
            assert_eq!(answer.status, 422, "GET {target}: {}", answer.body);
            tried += 1;
            assert_eq!(answer.body["errors"][0]["field"], *name, "GET {target}: {}", answer.body);
        }
    }
    assert!(tried >= 60, "{tried}");
}

#[tokio::test(start_paused = true)]
async fn a_parameter_that_is_not_known_is_named_by_every_list() {
    let lab = Lab::new();
    for it in sampled_operations().iter().filter(|it| it.parameter("query", "cursor").is_some()) {
        let target = format!("{}?unheardOf=1", it.event["rawPath"].as_str().unwrap());
        let call = lab.call(it.method(), &target).by(&tests::root_key());
        let answer = call.send().await;
        assert_eq!(answer.status, 422, "GET {target}: {}", answer.body);
        assert!(answer.text("detail").contains("unheardOf"), "GET {target}: {}", answer.body);
    }
}
