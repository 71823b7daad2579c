//! Which rules apply, decided the slow and obvious way: every rule, every resource, every segment.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;
use crate::limits::quota::Algorithm;
use crate::limits::rule::{OnFailure, RuleMode};

/// How specific the pattern is if it matches: a letter for each segment, the more specific the lesser.
fn matched(pattern: &str, path: &str) -> Option<String> {
    let mut rest = path;
    let mut kinds = String::new();
    for segment in pattern[1..].split('/') {
        rest = rest.strip_prefix('/')?;
        let (first, after) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if segment.starts_with("{*") {
            return (!rest.is_empty()).then(|| kinds + "c");
        }
        let parameter = segment.starts_with('{');
        if if parameter { first.is_empty() } else { first != segment } {
            return None;
        }
        kinds.push(if parameter { 'b' } else { 'a' });
        rest = after;
    }
    rest.is_empty().then_some(kinds)
}

fn slots_applying(rules: &[Rule], caller: &CallerRef<'_>, path: &str, method: &str) -> Vec<u32> {
    let method = if method == "HEAD" { "GET" } else { method };
    let concerns = |rule: &Rule| {
        caller.entity(rule.dimension).is_some()
            && (rule.methods.is_empty() || rule.methods.iter().any(|name| name == method))
            && !(rule.anonymous_only && caller.is_identified())
    };
    // The best of a rule's resources; a default is worse than any.
    let how = |rule: &Rule| match rule.resources.as_slice() {
        [] => Some("default".to_owned()),
        resources => resources.iter().filter_map(|pattern| matched(pattern, path)).min(),
    };
    let candidates: Vec<_> = (0..)
        .zip(rules)
        .filter(|(_, rule)| concerns(rule))
        .filter_map(|(index, rule)| Some((index, rule.dimension, how(rule)?)))
        .collect();
    let mut best: HashMap<Dimension, &String> = HashMap::new();
    for (_, dimension, how) in &candidates {
        let held = best.entry(*dimension).or_insert(how);
        *held = (*held).min(how);
    }
    let indices = candidates.iter().filter(|(_, dimension, how)| best.get(dimension) == Some(&how));
    indices.map(|(index, ..)| *index).collect()
}

fn a_pattern() -> impl Strategy<Value = String> {
    let segment = select(vec!["a", "b", "ab", "", "{x}", "{y}"]);
    let end = select(vec!["", "", "", "/{*rest}", "/{*other}"]);
    (vec(segment, 0..4), end).prop_map(|(segments, end)| {
        let text: String = segments.iter().flat_map(|segment| ["/", segment]).collect();
        if text.is_empty() && end.is_empty() { "/".to_owned() } else { text + end }
    })
}

fn a_rule() -> impl Strategy<Value = Rule> {
    let methods = prop_oneof![Just(vec![]), subsequence(vec!["GET", "POST", "PUT"], 0..3)];
    let quota = (0..50_i64, 1..5_i64)
        .prop_map(|(limit, window)| Quota::new(Algorithm::FixedWindow, limit, window * 1_000));
    let resources = prop_oneof![1 => Just(vec![]), 4 => vec(a_pattern(), 1..4)];
    let dimension = select(Dimension::ALL.to_vec());
    (resources, methods, dimension, any::<bool>(), quota).prop_map(
        |(resources, methods, dimension, anonymous, quota)| Rule {
            id: String::new(),
            resources,
            methods: methods.into_iter().map(ToOwned::to_owned).collect(),
            dimension,
            anonymous_only: anonymous && dimension == Dimension::Ip,
            quota,
            mode: RuleMode::Enforce,
            on_failure: OnFailure::Open,
            description: String::new(),
            version: 1,
        },
    )
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    vec(a_rule(), 0..24).prop_map(|mut rules| {
        for (index, rule) in rules.iter_mut().enumerate() {
            rule.id = format!("r{index}");
        }
        rules
    })
}

fn a_path() -> impl Strategy<Value = String> {
    let segment = select(vec!["a", "b", "ab", "", "c", "{x}"]);
    vec(segment, 0..6).prop_map(|segments| segments.iter().flat_map(|s| ["/", s]).collect())
}

fn a_subject() -> impl Strategy<Value = CallerRef<'static>> {
    any::<[bool; 4]>().prop_map(|[user, api_key, ip, tenant]| CallerRef {
        user: user.then_some("ada"),
        api_key: api_key.then_some("k1"),
        ip: ip.then_some([192, 0, 2, 1].into()),
        tenant: tenant.then_some("acme"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_rules_found_are_those_that_apply(
        rules in rules(), paths in vec(a_path(), 1..20), caller in a_subject(),
        method in select(vec!["GET", "HEAD", "POST", "PUT", "PURGE"]),
    ) {
        let set = RuleSet::new(rules.clone(), vec![], Exemptions::default());
        for path in paths {
            let found = set.matching(&caller, &path, method, 0);
            prop_assert_eq!(set.applies(&caller, &path, method), !found.is_empty(), "{}", path);
            let mut indices: Vec<_> = found.iter().map(|applied| applied.index).collect();
            indices.sort_unstable();
            prop_assert_eq!(indices, slots_applying(&rules, &caller, &path, method), "{}", path);
            for applied in &found {
                let rule = &rules[usize::try_from(applied.index).unwrap()];
                prop_assert_eq!(&**applied.rule, rule);
                prop_assert_eq!(applied.quota, rule.quota);
                prop_assert_eq!(Some(applied.entity.clone()), caller.entity(rule.dimension));
            }
            let rates = found.iter().map(|applied| applied.quota);
            let whole = |quota: &Quota| quota.limit * 60_000 / quota.window_ms;
            prop_assert!(rates.is_sorted_by_key(|quota| (whole(&quota), quota.limit)));
        }
    }
}
