//! Systems that can be deployed alone: what each stack is, and what is left when it is switched off.

use std::collections::BTreeSet;

use boundary::System;
use http::Method;
use local::{Cloud, Options, systems};
use serde_json::json;
use template::{Nested, Stack};
use tests::{Lab, Setup, root};

use super::events::accept_samples;
use super::routes::route_for;
use super::{list_folder, stack};

/// The systems that a deployment may leave out.
fn switched() -> Vec<System> {
    systems::all().into_iter().filter(|system| system.is_optional).collect()
}

/// The parameters that switch systems off.
fn off(systems: &[&System]) -> Vec<(String, String)> {
    systems.iter().map(|system| (system.parameter(), "off".to_owned())).collect()
}

fn read(parameters: Vec<(String, String)>) -> Stack {
    let mut all = tests::parameters();
    all.extend(parameters);
    template::load(&root().join("template.yaml"), &all).unwrap()
}

fn lab_without(systems: &[&System]) -> Lab {
    let parameters = off(systems);
    let parameters: Vec<_> = parameters.iter().map(|(name, value)| (&**name, &**value)).collect();
    Lab::with_parameters(Setup::default(), &parameters)
}

fn nested<'a>(stack: &'a Stack, system: &System) -> &'a Nested {
    let location = format!("infra/{}.yaml", system.name);
    let nested = stack.nested.iter().find(|nested| nested.location == location);
    nested.unwrap_or_else(|| panic!("template.yaml does not nest {location}"))
}

#[test]
fn every_system_that_can_be_switched_has_a_template_and_a_parameter() {
    let folder = list_folder(&root().join("infra"));
    let templates: BTreeSet<&str> =
        folder.iter().filter_map(|name| name.strip_suffix(".yaml")).collect();
    let systems = switched();
    assert_eq!(templates, systems.iter().map(|system| system.name).collect());
    let switches: BTreeSet<String> =
        systems.iter().map(|system| format!("{}=on", system.name)).collect();
    for system in &systems {
        assert_eq!(stack().parameters[&system.parameter()], "on");
        assert_eq!(nested(stack(), system).parameters["Switch"], "on");
        assert_eq!(nested(&read(off(&[system])), system).parameters["Switch"], "off");
    }
    for binary in ["describe", "limits"] {
        let function = stack().functions.iter().find(|it| it.binary == binary).unwrap();
        let variable = function.environment["SYSTEMS"].split(' ').map(str::to_owned);
        assert_eq!(variable.collect::<BTreeSet<_>>(), switches, "{binary}");
    }
}

/// CloudFormation refuses a template with over 500.
#[test]
fn no_template_has_more_than_300_resources() {
    assert!(stack().resources_after_transform() <= 300);
    for nested in &stack().nested {
        let count = nested.stack.resources_after_transform();
        assert!(count <= 300, "{}: {count}", nested.location);
    }
}

#[test]
fn each_template_has_its_own_system_s_functions() {
    for system in systems::all() {
        let here: BTreeSet<&str> = if system.is_optional {
            let functions = &nested(stack(), &system).stack.functions;
            functions.iter().map(|function| &*function.binary).collect()
        } else {
            let own: BTreeSet<&str> =
                stack().own_resources().map(|resource| &*resource.logical_id).collect();
            let functions = stack().functions.iter();
            functions.filter(|it| own.contains(&*it.logical_id)).map(|it| &*it.binary).collect()
        };
        let functions: BTreeSet<&str> = system.functions().iter().map(|it| it.name).collect();
        let strange: Vec<_> = if system.is_optional {
            here.symmetric_difference(&functions).collect()
        } else {
            functions.difference(&here).collect()
        };
        assert!(strange.is_empty(), "{}: {strange:?}", system.name);
    }
}

#[test]
fn no_template_refers_to_what_is_in_another_systems() {
    for one in &stack().nested {
        let text = std::fs::read_to_string(&one.file).unwrap();
        assert!(!text.contains("ImportValue"), "{}", one.location);
        for other in stack().nested.iter().filter(|other| other.location != one.location) {
            for resource in &other.stack.resources {
                let name = resource.name.as_str();
                let ends = |text: &str| text == name || text.ends_with(&format!("/{name}"));
                let given = one.parameters.iter().find(|(_, value)| ends(value));
                assert!(given.is_none(), "{} is given {given:?}", one.location);
            }
        }
    }
    // Nor does what is shared: it would not be there without them.
    let text = std::fs::read_to_string(root().join("template.yaml")).unwrap();
    let resources = text.split_once("\nOutputs:").unwrap().0;
    assert!(!resources.contains("System.Outputs"));
}

#[test]
fn what_is_switched_off_leaves_its_data_and_nothing_else() {
    let systems = switched();
    let all: Vec<&System> = systems.iter().collect();
    let bare = read(off(&all));
    let names = |stack: &Stack| -> BTreeSet<String> {
        let tables = stack.tables.iter().map(|table| table.name.clone());
        tables.chain(stack.buckets.iter().map(|bucket| bucket.name.clone())).collect()
    };
    assert_eq!(names(&bare), names(stack()));
    for system in &systems {
        for resource in &nested(&bare, system).stack.resources {
            let kind = resource.kind.as_str();
            let is_data = matches!(kind, "AWS::DynamoDB::Table" | "AWS::S3::Bucket");
            assert!(is_data, "{}: {} is not data", system.name, resource.logical_id);
            let kept = [resource.deletion_policy, resource.update_replace_policy];
            assert_eq!(kept, [template::DeletionPolicy::Retain; 2], "{}", resource.logical_id);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn everything_else_goes_on_without_a_system() {
    let systems = switched();
    for system in &systems {
        let count = accept_samples(&lab_without(&[system])).await;
        assert!(count > 60, "without {}: {count}", system.name);
    }
}

#[tokio::test(start_paused = true)]
async fn each_system_goes_on_alone() {
    let systems = switched();
    for system in &systems {
        let others: Vec<&System> = systems.iter().filter(|it| it.name != system.name).collect();
        let lab = lab_without(&others);
        accept_samples(&lab).await;
        let deployed: BTreeSet<&str> =
            lab.cloud.stack.functions.iter().map(|function| &*function.binary).collect();
        assert!(system.functions().iter().all(|function| deployed.contains(function.name)));
        lab.run_until_idle().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_path_of_a_system_that_is_off_says_how_to_deploy_it() {
    for system in &switched() {
        let lab = lab_without(&[system]);
        let title = system.parameter();
        let sentence =
            format!("{title} is not deployed here. Deploy it with the parameter {title}=on.");
        for (_, operation) in system.operations() {
            let (reached, _) = route_for(&lab.cloud.stack, operation.path);
            // While links are deployed, a path of one segment is a link.
            if reached.binary == "redirect" {
                continue;
            }
            let path = operation.path.replace(['{', '}'], "");
            let answer = lab.call(Method::GET, &path).send().await;
            assert_eq!(
                (answer.status.as_u16(), answer.text("detail")),
                (404, &*sentence),
                "{path}"
            );
        }
        let unknown = lab.call(Method::GET, "/api/v1/no/such/thing").send().await;
        assert!(unknown.text("detail").starts_with("Nothing answers at"), "{}", unknown.body);
    }
}

#[tokio::test(start_paused = true)]
async fn rules_for_a_system_that_is_off_are_not_listed_until_an_admin_makes_them() {
    let systems = switched();
    let jobs = systems.iter().find(|system| system.name == "jobs").unwrap();
    let lab = lab_without(&[jobs]);
    let listed = |answer: tests::Response| answer.body["rules"].to_string();
    let rules = listed(lab.get("/admin/ratelimits").await);
    assert!(!rules.contains("jobs-minute") && rules.contains("links-hour"), "{rules}");
    assert_eq!(lab.get("/admin/ratelimits/jobs-minute").await.status, 404);
    let rule = json!({ "resources": ["/api/v1/jobs"], "dimension": "user", "limit": 1, "windowSeconds": 60 });
    let put = lab.call(Method::PUT, "/admin/ratelimits/jobs-minute").by(&tests::root_key());
    assert_eq!(put.json(&rule).send().await.status, 201);
    assert!(listed(lab.get("/admin/ratelimits").await).contains("jobs-minute"));
}

/// As `--only` does it, on one folder.
#[tokio::test]
async fn data_is_found_again_when_a_system_is_switched_on_again() {
    let folder = std::env::temp_dir().join(format!("switched-{}", std::process::id()));
    let start = |switch: &str| {
        let mut options = Options::new(&root().join("template.yaml"));
        options.folder = Some(folder.clone());
        options.parameters = tests::parameters();
        options.parameters.insert("Jobs".to_owned(), switch.to_owned());
        Cloud::start(options).unwrap()
    };
    let ask = async |cloud: &Cloud, method: Method, body: &'static str| {
        let key = format!("Bearer {}", tests::root_key());
        let request = http::Request::builder().method(method).uri("/api/v1/job-types/kept");
        let request = request.header("authorization", key).body(body.into()).unwrap();
        cloud.request(request).await.status().as_u16()
    };
    std::fs::create_dir_all(&folder).unwrap();
    let kind = r#"{"delivery":"poll","maxConcurrent":1}"#;
    assert_eq!(ask(&start("on"), Method::PUT, kind).await, 201);
    assert_eq!(ask(&start("off"), Method::GET, "").await, 404);
    assert_eq!(ask(&start("on"), Method::GET, "").await, 200);
    std::fs::remove_dir_all(&folder).unwrap();
}
