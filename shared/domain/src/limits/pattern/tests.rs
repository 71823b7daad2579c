use super::*;

#[test]
fn patterns_that_match_the_same_paths_read_the_same() {
    for (left, right) in [
        ("/a/{x}", "/a/{other}"),
        ("/a/{*x}", "/a/{*rest}"),
        ("/{a}/b/{c}", "/{c}/b/{a}"),
        ("/{same}/{same}", "/{one}/{two}"),
    ] {
        assert_eq!(Pattern::parse(left).unwrap(), Pattern::parse(right).unwrap());
    }
    for (left, right) in [("/a", "/a/"), ("/a/{x}", "/a/{*x}"), ("/a", "/A"), ("/", "//")] {
        assert_ne!(Pattern::parse(left).unwrap(), Pattern::parse(right).unwrap());
    }
}

#[test]
fn what_is_no_pattern_is_refused() {
    let many = "/{a}".repeat(17);
    let long = format!("/{}", "a".repeat(256));
    for text in [
        "", "a", "a/b", "/{", "/}", "/{}", "/{*}", "/a{x}", "/{x}a", "/{x}{y}", "/{*x}/a",
        "/{{x}}", "/a?b", "/a#b", "/a b", "/{a/b}", "/{**x}", "/{x*}", "/\n", &many, &long,
    ] {
        assert_eq!(Pattern::parse(text), None, "{text:?}");
    }
    let (many, long) = ("/{a}".repeat(16), format!("/{}", "a".repeat(255)));
    for text in ["/", "/a/", "//", "/a.b-c_d~e", "/é", "/{user_id2}", &many, &long] {
        assert!(Pattern::parse(text).is_some(), "{text:?}");
    }
}

#[test]
fn text_is_more_specific_than_a_parameter_and_that_than_a_catch_all_from_the_left() {
    let order =
        ["/a/b/c", "/a/b/{x}", "/a/b/{*x}", "/a/{x}/c", "/a/{x}/{y}", "/a/{*x}", "/{x}/b/c"];
    let shapes: Vec<_> = order.iter().map(|text| Pattern::parse(text).unwrap().shape).collect();
    assert!(shapes.is_sorted_by(|left, right| left < right));
}
