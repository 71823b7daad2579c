//! Which systems are deployed, for the few functions that speak of all of them.

use std::collections::BTreeSet;

use crate::Vars;

/// The systems that are switched off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Switches {
    off: BTreeSet<String>,
}

impl Switches {
    /// Read from the variable `SYSTEMS`. Without it everything is on.
    pub fn from_vars(vars: &Vars) -> Self {
        Self::parse(vars.optional("SYSTEMS").unwrap_or_default())
    }

    /// In the form that the template writes: `links=on jobs=off`. A system that is not named can't be switched.
    pub fn parse(text: &str) -> Self {
        let off = text.split_whitespace().filter_map(|switch| switch.strip_suffix("=off"));
        Self { off: off.map(str::to_owned).collect() }
    }

    /// Whether none is off.
    pub fn are_all_on(&self) -> bool {
        self.off.is_empty()
    }

    /// Whether the system of that name is off.
    pub fn is_off(&self, system: &str) -> bool {
        self.off.contains(system)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_on() {
        let switches = Switches::parse("links=on jobs=off");
        assert!(switches.is_off("jobs") && !switches.are_all_on());
        assert!(!switches.is_off("links") && !switches.is_off("ids"));
        assert!(Switches::from_vars(&Vars::default()).are_all_on());
    }
}
