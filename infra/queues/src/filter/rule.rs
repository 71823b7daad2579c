//! One rule of a filter policy: a value to equal, or an operator such as `prefix`.

use std::net::IpAddr;

use serde_json::Value;

use super::MalformedFilter;

/// What a value must be like.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rule {
    Equals(Value),
    EqualsIgnoreCase(String),
    Prefix(String),
    Suffix(String),
    Exists(bool),
    Numeric(Vec<(Comparison, f64)>),
    Cidr(IpAddr, u32),
    /// None of these, which are rules for single values.
    AnythingBut(Vec<Rule>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

impl Rule {
    /// Reads one element of a list of rules.
    pub(super) fn read(rule: &Value) -> Result<Self, MalformedFilter> {
        match rule {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Ok(Self::Equals(rule.clone()))
            }
            Value::Array(_) => {
                MalformedFilter::new("Match value must be a value or an operator object")
            }
            Value::Object(operators) => {
                let mut operators = operators.iter();
                match (operators.next(), operators.next()) {
                    (Some((name, operand)), None) => Self::operator(name, operand),
                    _ => MalformedFilter::new("An operator object must have exactly one key"),
                }
            }
        }
    }

    fn operator(name: &str, operand: &Value) -> Result<Self, MalformedFilter> {
        match (name, operand) {
            ("prefix", Value::String(text)) => Ok(Self::Prefix(text.clone())),
            ("suffix", Value::String(text)) => Ok(Self::Suffix(text.clone())),
            ("equals-ignore-case", Value::String(text)) => Ok(Self::EqualsIgnoreCase(text.clone())),
            ("exists", Value::Bool(wanted)) => Ok(Self::Exists(*wanted)),
            ("numeric", Value::Array(parts)) => read_numeric(parts),
            ("cidr", Value::String(text)) => read_cidr(text),
            ("anything-but", operand) => Ok(Self::AnythingBut(read_exceptions(operand)?)),
            ("prefix" | "suffix" | "equals-ignore-case" | "exists" | "numeric" | "cidr", _) => {
                MalformedFilter::new(format!("\"{name}\" has an operand of the wrong type"))
            }
            _ => MalformedFilter::new(format!("Unrecognized match type {name}")),
        }
    }

    /// Whether a value, or its absence, fits. Of a list, one element must.
    pub(super) fn matches(&self, value: Option<&Value>) -> bool {
        match value {
            None => *self == Self::Exists(false),
            Some(Value::Array(elements)) if elements.is_empty() => *self == Self::Exists(false),
            Some(Value::Array(elements)) => elements.iter().any(|element| self.fits(element)),
            Some(value) => self.fits(value),
        }
    }

    fn fits(&self, value: &Value) -> bool {
        // Only leaves can be matched: an object in a leaf's place neither equals nor exists.
        if value.is_object() || value.is_array() {
            return false;
        }
        let text = value.as_str();
        match self {
            Self::Equals(wanted) => equal(wanted, value),
            Self::EqualsIgnoreCase(wanted) => {
                text.is_some_and(|text| text.to_lowercase() == wanted.to_lowercase())
            }
            Self::Prefix(prefix) => text.is_some_and(|text| text.starts_with(prefix.as_str())),
            Self::Suffix(suffix) => text.is_some_and(|text| text.ends_with(suffix.as_str())),
            Self::Exists(wanted) => *wanted,
            Self::Numeric(bounds) => value
                .as_f64()
                .is_some_and(|number| bounds.iter().all(|(how, bound)| how.holds(number, *bound))),
            Self::Cidr(network, bits) => text
                .and_then(|text| text.parse().ok())
                .is_some_and(|address| in_network(address, *network, *bits)),
            Self::AnythingBut(exceptions) => !exceptions.iter().any(|rule| rule.fits(value)),
        }
    }
}

impl Comparison {
    #[expect(clippy::float_cmp, reason = "a policy that says = means the very same number")]
    fn holds(self, number: f64, bound: f64) -> bool {
        match self {
            Self::Equal => number == bound,
            Self::Less => number < bound,
            Self::LessOrEqual => number <= bound,
            Self::More => number > bound,
            Self::MoreOrEqual => number >= bound,
        }
    }
}

/// Numbers are equal by value: 3, 3.0 and 3e0 are the same.
fn equal(wanted: &Value, value: &Value) -> bool {
    match (wanted.as_f64(), value.as_f64()) {
        (Some(wanted), Some(value)) => Comparison::Equal.holds(wanted, value),
        _ => wanted == value,
    }
}

fn read_numeric(parts: &[Value]) -> Result<Rule, MalformedFilter> {
    let mut bounds = Vec::new();
    for pair in parts.chunks(2) {
        let [Value::String(how), bound] = pair else {
            return MalformedFilter::new("\"numeric\" must be pairs of a comparison and a number");
        };
        let how = match how.as_str() {
            "=" => Comparison::Equal,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::More,
            ">=" => Comparison::MoreOrEqual,
            _ => {
                return MalformedFilter::new(format!("Unrecognized numeric range operator: {how}"));
            }
        };
        match bound.as_f64() {
            Some(bound) => bounds.push((how, bound)),
            None => return MalformedFilter::new("\"numeric\" compares with numbers only"),
        }
    }
    if bounds.is_empty() {
        return MalformedFilter::new("\"numeric\" must not be empty");
    }
    Ok(Rule::Numeric(bounds))
}

/// `anything-but` takes a value, a list of values, or an operator for text with one or more texts.
fn read_exceptions(operand: &Value) -> Result<Vec<Rule>, MalformedFilter> {
    match operand {
        Value::Object(operators) => {
            let mut rules = Vec::new();
            for (name, texts) in operators {
                if !matches!(name.as_str(), "prefix" | "suffix" | "equals-ignore-case") {
                    return MalformedFilter::new(format!("\"anything-but\" does not take {name}"));
                }
                for text in texts.as_array().map_or(std::slice::from_ref(texts), Vec::as_slice) {
                    rules.push(Rule::operator(name, text)?);
                }
            }
            Ok(rules)
        }
        Value::Array(values) if values.is_empty() => {
            MalformedFilter::new("\"anything-but\" must not be empty")
        }
        Value::Array(values) => values.iter().map(read_exception).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Ok(vec![Rule::Equals(operand.clone())])
        }
    }
}

fn read_exception(value: &Value) -> Result<Rule, MalformedFilter> {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
            Ok(Rule::Equals(value.clone()))
        }
        Value::Array(_) | Value::Object(_) => {
            MalformedFilter::new("\"anything-but\" lists values, not lists or objects")
        }
    }
}

fn read_cidr(text: &str) -> Result<Rule, MalformedFilter> {
    let parts = text.split_once('/');
    let network = parts.and_then(|(address, _)| address.parse::<IpAddr>().ok());
    let bits = parts.and_then(|(_, bits)| bits.parse::<u32>().ok());
    match (network, bits) {
        (Some(network), Some(bits)) if bits <= if network.is_ipv4() { 32 } else { 128 } => {
            Ok(Rule::Cidr(network, bits))
        }
        _ => MalformedFilter::new(format!("Malformed CIDR: {text}")),
    }
}

fn in_network(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        _ => false,
    }
}
