//! Every system of the product. This is the only list of them.

use boundary::{Build, System};

/// All systems, in the order in which a reader meets them.
pub fn all() -> Vec<System> {
    vec![
        links::system(),
        jobs::system(),
        notifications::system(),
        feed::system(),
        ids::system(),
        limits::system(),
        accounts::system(),
        service::system(),
    ]
}

/// How the function of that name is made.
pub fn build(name: &str) -> Option<Build> {
    let mut functions = all().into_iter().flat_map(|system| system.functions().to_vec());
    functions.find(|function| function.name == name).map(|function| function.build)
}

/// The template's parameters that leave on only the systems in `names`, which are separated by commas. Those that
/// every deployment has may be named as well.
pub fn only(names: &str) -> Result<Vec<(String, String)>, String> {
    let systems = all();
    let names: Vec<&str> =
        names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    for name in &names {
        if !systems.iter().any(|system| system.name == *name) {
            let listed = |switched: bool| {
                let systems = systems.iter().filter(|system| system.switched == switched);
                systems.map(|system| system.name).collect::<Vec<_>>().join(", ")
            };
            return Err(format!(
                "there is no system `{name}`; there are {}, and always {}",
                listed(true),
                listed(false)
            ));
        }
    }
    let switched = systems.iter().filter(|system| system.switched);
    let switch = |system: &System| {
        let value = if names.contains(&system.name) { "on" } else { "off" };
        (system.parameter(), value.to_owned())
    };
    Ok(switched.map(switch).collect())
}
