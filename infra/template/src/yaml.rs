//! Reads YAML text into a [`Node`] tree, and refuses what a deployment would misread: duplicate
//! keys, aliases, unknown tags. Short (`!Ref`) and long (`Ref:`) forms come out as the same calls.

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput, Tag};

use crate::error::{Mark, Result, TemplateError};
use crate::node::{Entry, Intrinsic, Kind, Node};
use crate::suggest::did_you_mean;

/// Deeper nesting than any template has, and shallow enough for recursion.
const MAX_DEPTH: usize = 100;

/// Reads the only document in `text`.
pub(crate) fn parse(text: &str) -> Result<Node> {
    let mut reader = Reader { parser: Parser::new_from_str(text) };
    reader.next()?;
    let (first, mark) = reader.next()?;
    if first == Event::StreamEnd {
        return Err(TemplateError::new(mark, "", "the template is empty"));
    }
    let root = reader.node("", 0)?;
    reader.next()?;
    match reader.next()? {
        (Event::StreamEnd, _) => Ok(root),
        (_, mark) => Err(TemplateError::new(mark, "", "a template is one document, not several")),
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Mark)> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                let mark = Mark { line: span.start.line(), column: span.start.col() + 1 };
                Ok((event, mark))
            }
            Some(Err(error)) => {
                let mark = Mark { line: error.marker().line(), column: error.marker().col() + 1 };
                Err(TemplateError::new(mark, "", format!("not YAML: {}", error.info())))
            }
            None => Err(TemplateError::new(Mark::START, "", "the file ends too early")),
        }
    }

    fn node(&mut self, path: &str, depth: usize) -> Result<Node> {
        let (event, mark) = self.next()?;
        self.node_from(event, mark, path, depth)
    }

    fn node_from(
        &mut self,
        event: Event<'a>,
        mark: Mark,
        path: &str,
        depth: usize,
    ) -> Result<Node> {
        if depth > MAX_DEPTH {
            return Err(TemplateError::new(mark, path, "nested too deeply"));
        }
        match event {
            Event::Scalar(text, style, _, tag) => scalar(&text, style, tag.as_deref(), mark, path),
            Event::SequenceStart(_, tag) => {
                let kind = Kind::List(self.items(path, depth)?);
                tagged(Node { mark, kind }, tag.as_deref(), path)
            }
            Event::MappingStart(_, tag) => {
                let entries = self.entries(path, depth)?;
                tagged(long_form(entries, mark, path)?, tag.as_deref(), path)
            }
            Event::Alias(_) => {
                Err(TemplateError::new(mark, path, "CloudFormation does not know YAML aliases"))
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => Err(TemplateError::new(mark, path, "expected a value")),
        }
    }

    fn items(&mut self, path: &str, depth: usize) -> Result<Vec<Node>> {
        let mut items = Vec::new();
        loop {
            let (event, mark) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(items);
            }
            let path = format!("{path}[{}]", items.len());
            items.push(self.node_from(event, mark, &path, depth + 1)?);
        }
    }

    fn entries(&mut self, path: &str, depth: usize) -> Result<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let (event, mark) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(entries);
            }
            let Some(key) = key(event) else {
                return Err(TemplateError::new(mark, path, "a key must be a plain string"));
            };
            let path = child(path, &key);
            if let Some(first) = entries.iter().find(|entry| entry.key == key) {
                let reason = format!("duplicate key, first used on line {}", first.mark.line);
                return Err(TemplateError::new(mark, &path, reason));
            }
            let value = self.node(&path, depth + 1)?;
            entries.push(Entry { key, mark, value });
        }
    }
}

/// The text of a key. `<<` would merge maps, which templates cannot do.
fn key(event: Event<'_>) -> Option<String> {
    let Event::Scalar(text, _, _, None) = event else {
        return None;
    };
    (text != "<<").then(|| text.into_owned())
}

/// The path of a property inside another.
pub(crate) fn child(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    mark: Mark,
    path: &str,
) -> Result<Node> {
    // The argument of a short form is text even where it looks like a number.
    let node = if style == ScalarStyle::Plain && tag.is_none() {
        Node::plain(mark, text)
    } else {
        Node::string(mark, text)
    };
    tagged(node, tag, path)
}

/// Turns `!Name argument` into a call.
fn tagged(node: Node, tag: Option<&Tag>, path: &str) -> Result<Node> {
    let Some(tag) = tag else { return Ok(node) };
    if tag.is_yaml_core_schema() && tag.suffix == "str" {
        return Ok(node);
    }
    let mark = node.mark;
    let intrinsic = (tag.handle == "!").then(|| Intrinsic::named(&tag.suffix)).flatten();
    match intrinsic {
        Some(intrinsic) => Ok(Node { mark, kind: Kind::Call(intrinsic, Box::new(node)) }),
        None => Err(unknown_intrinsic(mark, path, &format!("!{}", tag.suffix), &tag.suffix)),
    }
}

/// Recognizes `{ Ref: … }` and `{ Fn::Name: … }`. `Condition` stays a key here, since resources and
/// policy statements have one too; only the conditions section reads it as a call.
fn long_form(mut entries: Vec<Entry>, mark: Mark, path: &str) -> Result<Node> {
    let calls = |entry: &Entry| entry.key == "Ref" || entry.key.starts_with("Fn::");
    let Some(position) = entries.iter().position(calls) else {
        return Ok(Node { mark, kind: Kind::Map(entries) });
    };
    let entry = entries.swap_remove(position);
    if !entries.is_empty() {
        let reason = format!("`{}` must be the only key of its map", entry.key);
        return Err(TemplateError::new(entry.mark, path, reason));
    }
    let short = entry.key.strip_prefix("Fn::").unwrap_or(&entry.key);
    match Intrinsic::named(short) {
        Some(intrinsic) if intrinsic.name() == entry.key => {
            Ok(Node { mark, kind: Kind::Call(intrinsic, Box::new(entry.value)) })
        }
        _ => Err(unknown_intrinsic(entry.mark, path, &entry.key, short)),
    }
}

fn unknown_intrinsic(mark: Mark, path: &str, written: &str, short: &str) -> TemplateError {
    let hint = did_you_mean(short, Intrinsic::ALL.iter().map(|(name, _)| *name));
    TemplateError::new(mark, path, format!("unsupported intrinsic `{written}`{hint}"))
}
