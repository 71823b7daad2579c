//! Every system of the product. This is the only list of them.

use boundary::{FunctionFactory, System};

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
pub fn build(name: &str) -> Option<FunctionFactory> {
    let mut functions = all().into_iter().flat_map(|system| system.functions().to_vec());
    functions.find(|function| function.name == name).map(|function| function.build)
}

/// The template's parameters that leave on only the systems in `names`. Those that every deployment
/// has may be named as well.
pub fn only(names: &[String]) -> Vec<(String, String)> {
    let switched = all().into_iter().filter(|system| system.is_optional);
    let switch = |system: System| {
        let on = names.iter().any(|name| name == system.name);
        (system.parameter(), if on { "on" } else { "off" }.to_owned())
    };
    switched.map(switch).collect()
}
