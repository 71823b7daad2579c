//! What may be in a template, read off its syntax tree.
//!
//! Allowed: gaps, conditions, loops over what was passed in, comparisons, attributes and items, and the
//! filters and tests below. Absent: includes and imports (the engine is built without), calls, macros,
//! assignments, and every operator or filter that makes something longer than what it was given. So
//! the engine's fuel bounds the time, and nothing but the output, which is counted, can grow.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt};
use minijinja::machinery::{WhitespaceConfig, parse};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, escape_formatter};

use crate::notifications::contents::TextKind;

const FILTERS: [&str; 7] = ["default", "first", "join", "last", "length", "lower", "upper"];
const TESTS: [&str; 2] = ["defined", "undefined"];

/// Instructions that a text may take to fill in.
const FUEL: u64 = 100_000;

/// How the engine names texts whose gaps are escaped.
const HTML: &str = "text.html";
const PLAIN: &str = "text.txt";

/// The name that makes the engine treat a text as it should.
pub(super) const fn file_name(form: TextKind) -> &'static str {
    match form {
        TextKind::Html => HTML,
        TextKind::Line | TextKind::Text | TextKind::Link => PLAIN,
    }
}

/// The variables that a text uses, or what is wrong with it.
pub(super) fn variables(form: TextKind, source: &str) -> Result<BTreeSet<String>, String> {
    // The tree is checked before anything is compiled: compiling folds constants.
    let tree = parse(source, file_name(form), SyntaxConfig, WhitespaceConfig::default())
        .map_err(|error| describe_error(&error))?;
    statement(&tree)?;
    let engine = engine();
    let template = engine
        .template_from_named_str(file_name(form), source)
        .map_err(|error| describe_error(&error))?;
    Ok(template.undeclared_variables(false).into_iter().collect())
}

/// An engine that knows nothing but what is allowed.
pub(super) fn engine<'a>() -> Environment<'a> {
    let mut engine = Environment::empty();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine.set_fuel(Some(FUEL));
    engine.set_auto_escape_callback(
        |name| {
            if name == HTML { AutoEscape::Html } else { AutoEscape::None }
        },
    );
    // Lists, maps and null have no form that a person should read.
    engine.set_formatter(|out, state, value| {
        let readable =
            [ValueKind::Bool, ValueKind::Number, ValueKind::String, ValueKind::Undefined];
        if readable.contains(&value.kind()) {
            return escape_formatter(out, state, value);
        }
        Err(Error::new(ErrorKind::BadSerialization, "a gap takes text, a number or a yes or no"))
    });
    engine.add_test("defined", |value: &Value| !value.is_undefined());
    engine.add_test("undefined", |value: &Value| value.is_undefined());
    engine.add_filter("default", |value: &Value, other: Value| {
        if value.is_undefined() || value.is_none() { other } else { value.clone() }
    });
    engine.add_filter("upper", |text: String| text.to_uppercase());
    engine.add_filter("lower", |text: String| text.to_lowercase());
    engine.add_filter("length", |value: &Value| {
        value.len().ok_or_else(|| Error::from(ErrorKind::InvalidOperation))
    });
    engine.add_filter("first", |value: &Value| edge(value, false));
    engine.add_filter("last", |value: &Value| edge(value, true));
    engine.add_filter("join", |value: &Value, between: String| {
        let parts: Vec<String> = value.try_iter()?.map(|part| part.to_string()).collect();
        Ok::<_, Error>(parts.join(&between))
    });
    engine
}

fn edge(value: &Value, last: bool) -> Result<Value, Error> {
    let mut items = value.try_iter()?;
    let item = if last { items.last() } else { items.next() };
    item.ok_or_else(|| Error::from(ErrorKind::UndefinedError))
}

/// An error without what was passed in: what a person would have read is in no log.
pub(super) fn describe_error(error: &Error) -> String {
    let kind = error.kind();
    // What is wrong with a template's own text may be shown in full.
    let detail = error.detail().filter(|_| kind == ErrorKind::SyntaxError);
    let what = detail.map_or_else(|| kind.to_string(), str::to_owned);
    match error.line() {
        Some(line) => format!("{what} (line {line})"),
        None => what,
    }
}

fn statement(statement: &Stmt<'_>) -> Result<(), String> {
    match statement {
        Stmt::Template(template) => statements(&template.children),
        Stmt::EmitRaw(_) => Ok(()),
        Stmt::EmitExpr(gap) => expression(&gap.expr),
        Stmt::IfCond(condition) => {
            expression(&condition.expr)?;
            statements(&condition.true_body)?;
            statements(&condition.false_body)
        }
        Stmt::ForLoop(each) => {
            if each.recursive || !matches!(each.target, Expr::Var(_)) {
                return Err("a loop is over one variable, and not recursive".to_owned());
            }
            expression(&each.iter)?;
            each.filter_expr.as_ref().map_or(Ok(()), expression)?;
            statements(&each.body)?;
            statements(&each.else_body)
        }
        Stmt::WithBlock(_) | Stmt::Set(_) | Stmt::SetBlock(_) => Err(unsupported("assignments")),
        Stmt::AutoEscape(_) => Err(unsupported("`autoescape`")),
        Stmt::FilterBlock(_) => Err(unsupported("filter blocks")),
        Stmt::Do(_) => Err(unsupported("calls")),
    }
}

fn statements(body: &[Stmt<'_>]) -> Result<(), String> {
    body.iter().try_for_each(statement)
}

fn expression(expr: &Expr<'_>) -> Result<(), String> {
    match expr {
        Expr::Var(_) | Expr::Const(_) => Ok(()),
        Expr::UnaryOp(operation) => expression(&operation.expr),
        Expr::BinOp(operation) => {
            comparison(operation.op)?;
            expression(&operation.left)?;
            expression(&operation.right)
        }
        Expr::Compare(chain) => {
            expression(&chain.expr)?;
            chain.ops.iter().try_for_each(|operand| expression(&operand.expr))
        }
        Expr::IfExpr(choice) => {
            expression(&choice.test_expr)?;
            expression(&choice.true_expr)?;
            choice.false_expr.as_ref().map_or(Ok(()), expression)
        }
        Expr::Filter(filter) => {
            check_allowed("filter", filter.name, &FILTERS)?;
            filter.expr.as_ref().map_or(Ok(()), expression)?;
            filter.args.iter().try_for_each(argument)
        }
        Expr::Test(test) => {
            check_allowed("test", test.name, &TESTS)?;
            expression(&test.expr)?;
            test.args.iter().try_for_each(argument)
        }
        Expr::GetAttr(attribute) => expression(&attribute.expr),
        Expr::GetItem(item) => {
            expression(&item.expr)?;
            expression(&item.subscript_expr)
        }
        Expr::Call(_) => Err(unsupported("calls")),
        Expr::Slice(_) => Err(unsupported("slices")),
        Expr::List(_) | Expr::Map(_) => Err(unsupported("lists and maps")),
    }
}

fn argument(argument: &CallArg<'_>) -> Result<(), String> {
    match argument {
        CallArg::Pos(expr) => expression(expr),
        CallArg::Kwarg(..) | CallArg::PosSplat(_) | CallArg::KwargSplat(_) => {
            Err(unsupported("named and spread arguments"))
        }
    }
}

fn comparison(operator: BinOpKind) -> Result<(), String> {
    match operator {
        BinOpKind::Eq
        | BinOpKind::Ne
        | BinOpKind::Lt
        | BinOpKind::Lte
        | BinOpKind::Gt
        | BinOpKind::Gte
        | BinOpKind::ScAnd
        | BinOpKind::ScOr
        | BinOpKind::In => Ok(()),
        BinOpKind::Add
        | BinOpKind::Sub
        | BinOpKind::Mul
        | BinOpKind::Div
        | BinOpKind::FloorDiv
        | BinOpKind::Rem
        | BinOpKind::Pow
        | BinOpKind::Concat => Err(unsupported("arithmetic")),
    }
}

fn check_allowed(kind: &str, name: &str, allowed: &[&str]) -> Result<(), String> {
    if allowed.contains(&name) {
        return Ok(());
    }
    Err(format!("there is no {kind} `{name}`; there are: {}", allowed.join(", ")))
}

fn unsupported(what: &str) -> String {
    format!("{what} are not part of the language")
}
