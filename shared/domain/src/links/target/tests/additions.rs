//! Queries added to a target, and the keys made from it.

use super::*;

#[test]
fn a_query_is_added_before_the_fragment() {
    let cases = [
        ("https://a.com/", "", "https://a.com/"),
        ("https://a.com/#f", "", "https://a.com/#f"),
        ("https://a.com/", "x=1", "https://a.com/?x=1"),
        ("https://a.com/?", "x=1", "https://a.com/?x=1"),
        ("https://a.com/?a=1", "x=1", "https://a.com/?a=1&x=1"),
        ("https://a.com/?a=1&", "x=1", "https://a.com/?a=1&x=1"),
        ("https://a.com/#f", "x=1", "https://a.com/?x=1#f"),
        ("https://a.com/?a=1#f?g", "x=1", "https://a.com/?a=1&x=1#f?g"),
        ("https://a.com/#f?g", "x=1", "https://a.com/?x=1#f?g"),
        ("https://a.com/", "x=a b", "https://a.com/?x=a%20b"),
        ("https://a.com/", "x=%41+%zz%", "https://a.com/?x=%41+%25zz%25"),
        ("https://a.com/", "x=\r\nA: b", "https://a.com/?x=%0D%0AA:%20b"),
        ("https://a.com/", "x=ü#\"<>'\\", "https://a.com/?x=%C3%BC%23%22%3C%3E%27%5C"),
        ("https://a.com/", "x=[1]&y={2}|^`", "https://a.com/?x=%5B1%5D&y=%7B2%7D%7C%5E%60"),
        ("https://a.com/", "x=a/b?c:d@e", "https://a.com/?x=a/b?c:d@e"),
    ];
    for (target, raw, expected) in cases {
        assert_eq!(parsed(target).with_query(raw), expected, "{target} with {raw:?}");
    }
}

#[test]
fn parameters_replace_their_namesakes_and_leave_the_rest_alone() {
    let cases = [
        ("https://a.com/", "https://a.com/?utm_source=x+y&utm_term=%26%3D%23%C3%BC"),
        ("https://a.com/?", "https://a.com/?utm_source=x+y&utm_term=%26%3D%23%C3%BC"),
        ("https://a.com/#f", "https://a.com/?utm_source=x+y&utm_term=%26%3D%23%C3%BC#f"),
        (
            "https://a.com/?sig=a%2fb+c&flag&utm_source=old&utm%5Fterm=old&utm_source#f",
            "https://a.com/?sig=a%2fb+c&flag&utm_source=x+y&utm_term=%26%3D%23%C3%BC#f",
        ),
    ];
    for (target, expected) in cases {
        let set = parsed(target).with_parameters(&[("utm_source", "x y"), ("utm_term", "&=#ü")]);
        assert_eq!(set.as_str(), expected, "{target}");
    }
    let untouched = parsed("https://a.com/?a&&b");
    assert_eq!(untouched.with_parameters(&[]), untouched);
}

#[test]
fn a_host_has_no_port_bracket_or_final_dot() {
    let cases = [
        ("https://Example.COM.:8443/a:b", "example.com"),
        ("https://example.com?x:y@z", "example.com"),
        ("http://[2606:4700::1]:8080/", "2606:4700::1"),
        ("http://8.8.8.8:81/", "8.8.8.8"),
        ("https://bücher.com/", "xn--bcher-kva.com"),
    ];
    for (text, host) in cases {
        assert_eq!(parsed(text).host(), host, "{text}");
    }
}

#[test]
fn block_keys_name_the_host_its_parents_and_the_url() {
    let keys = parsed("https://a.b.example.com./x#f").block_keys();
    assert_eq!(keys[..3], ["host:a.b.example.com", "host:b.example.com", "host:example.com"]);
    // SHA-256 of "https://a.b.example.com/x".
    let url = "url:e40724b96afc06e8bdec620d129181f5bd58dff80d238d58e4006ed9548e9f4d";
    assert_eq!(keys[3..], [url]);
    let address = parsed("http://8.8.8.8/").block_keys();
    assert_eq!(address.len(), 2);
    assert_eq!(address[0], "host:8.8.8.8");
    assert_eq!(parsed("http://[2606:4700::1]/").block_keys()[0], "host:2606:4700::1");
}

#[test]
fn the_fingerprint_is_of_what_a_server_sees() {
    let print = |text| parsed(text).fingerprint();
    let same = ["https://a.com", "https://A.com.:443/", "https://a.com/#f", "https://a.com/#"];
    for text in same {
        assert_eq!(print(text), print("https://a.com/"), "{text}");
    }
    for other in ["http://a.com/", "https://a.com/b", "https://a.com/?", "https://b.com/"] {
        assert_ne!(print(other), print("https://a.com/"), "{other}");
    }
}

proptest! {
    #[test]
    fn what_is_added_stays_in_the_query(raw in any::<String>(), name in any::<String>()) {
        let target = parsed("https://a.com/p?a=1#f");
        let set = target.with_parameters(&[(&name, &raw), ("utm_source", &raw)]);
        for url in [target.with_query(&raw), set.0] {
            prop_assert!(url.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{}", url);
            prop_assert!(url.starts_with("https://a.com/p?") && url.ends_with("#f"), "{}", url);
            let reparsed = Url::parse(&url).expect("a URL");
            prop_assert_eq!(reparsed.as_str(), &url);
            prop_assert_eq!(reparsed.fragment(), Some("f"));
        }
    }

    #[test]
    fn a_parameter_reads_back_as_it_was_set(name in ".+", value in any::<String>()) {
        let set = parsed("https://a.com/?k=1").with_parameters(&[(&name, &value)]);
        let url = Url::parse(set.as_str()).expect("a URL");
        let read: Vec<_> = url.query_pairs().filter(|(key, _)| *key == name).collect();
        prop_assert_eq!(read.len(), 1);
        prop_assert_eq!(&*read[0].1, value.as_str());
    }
}
