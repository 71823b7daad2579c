//! The picture of the architecture: an SVG drawn from the templates, so that it can't be out of date.
//!
//! A card for each system: from left to right what invokes its HTTP functions, these, its topics, queues and
//! schedules, and the functions that they invoke; below them its tables and buckets. Arrows follow from event
//! sources, subscriptions and policies. Absent: dead letters, and arrows between cards; instead a resource
//! says how many functions of other systems use it.

mod svg;

use boundary::System;
use template::{Effect, Expression, Function, Queue, RouteKey, Stack};

use crate::systems;

/// Where each column begins, and how wide it is.
const COLUMNS: [(usize, usize); 4] = [(22, 164), (222, 124), (386, 158), (584, 142)];
/// Below a card's title.
const TOP: usize = 38;
const GAP: usize = 13;

/// What a node or an edge stands for; its name is its class in the SVG.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Function,
    Request,
    Message,
    Schedule,
    Data,
}

/// A box, or for data a bar.
struct Node {
    /// The ARNs or names of what it stands for.
    keys: Vec<String>,
    kind: Kind,
    title: String,
    notes: Vec<String>,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

/// An arrow between two nodes, by their places; of a queue that a function consumes and sends to, both ways.
struct Edge {
    from: usize,
    to: usize,
    kind: Kind,
    both_ways: bool,
}

/// A system's part of a stack, laid out.
struct Card<'a> {
    stack: &'a Stack,
    system: System,
    functions: Vec<&'a Function>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    height: usize,
}

/// Draws a stack.
pub fn architecture(stack: &Stack) -> String {
    let cards = systems::all().into_iter().map(|system| Card::new(stack, system));
    svg::page(&cards.filter(|card| !card.nodes.is_empty()).collect::<Vec<_>>())
}

impl<'a> Card<'a> {
    fn new(stack: &'a Stack, system: System) -> Self {
        let ours = |it: &&Function| system.functions().iter().any(|known| known.name == it.binary);
        let functions = stack.functions.iter().filter(ours).collect();
        let (nodes, edges) = (Vec::new(), Vec::new());
        let mut card = Self { stack, system, functions, nodes, edges, height: 0 };
        card.add_nodes();
        card.functions.clone().into_iter().for_each(|function| card.connect(function));
        for it in &stack.subscriptions {
            card.add_edge(card.find(&it.topic_arn), card.find(&it.endpoint), Kind::Message);
        }
        card
    }

    fn add_nodes(&mut self) {
        let (http, event): (Vec<&Function>, Vec<&Function>) =
            self.functions.iter().partition(|it| !self.requests(it).is_empty());
        let left = self.place(0, &http, Self::requests);
        let right = self.place(2, &event, Self::events);
        // Topics and buckets of the system's own template; a topic without a queue has no place yet.
        let mut nested = self.stack.nested.iter();
        let own = nested.find(|it| it.file.file_stem() == Some(self.system.name.as_ref()));
        let own = own.map(|nested| &nested.stack);
        let topics = own.into_iter().flat_map(|own| &own.topics);
        let topics = topics.filter(|topic| self.find(&topic.arn).is_none());
        let topics = topics.map(|it| self.resource(Kind::Message, &it.logical_id, &it.arn));
        let bottom = self.stack_up(2, topics.collect(), right).max(left);
        let has = |id: &str| self.system.tables().iter().any(|table| table.logical_id == id);
        let tables = self.stack.tables.iter().filter(|it| has(&it.logical_id));
        let tables = tables.map(|it| self.resource(Kind::Data, &it.logical_id, &it.arn));
        let buckets = own.into_iter().flat_map(|own| &own.buckets);
        let buckets = buckets.map(|it| self.resource(Kind::Data, &it.logical_id, &it.arn));
        let (x, end) = (COLUMNS[1].0, COLUMNS[3].0 + COLUMNS[3].1 + 24);
        let bars: Vec<Node> = tables.chain(buckets).collect();
        self.height = bottom + 2;
        for bar in bars {
            self.nodes.push(Node { x, y: self.height, width: end - x, height: 25, ..bar });
            self.height += 33;
        }
    }

    /// Stacks what invokes each function in one column, and the functions beside it in the next; returns
    /// where they end.
    fn place(
        &mut self,
        column: usize,
        functions: &[&Function],
        invoking: fn(&Self, &Function) -> Vec<Node>,
    ) -> usize {
        functions.iter().fold(TOP, |top, function| {
            let end = self.stack_up(column, invoking(self, function), top);
            let mut actions = function.policies.iter().flat_map(|statement| &statement.actions);
            let posts = actions.any(|action| action == "execute-api:ManageConnections");
            let posts = posts.then(|| "posts to connections".to_owned());
            let node = Node::new(Kind::Function, &function.logical_id, &function.arn, posts);
            let y = top + end.saturating_sub(top + GAP + node.height) / 2;
            self.stack_up(column + 1, vec![node], y).max(end)
        })
    }

    fn stack_up(&mut self, column: usize, nodes: Vec<Node>, top: usize) -> usize {
        let (x, width) = COLUMNS[column];
        nodes.into_iter().fold(top, |y, node| {
            let bottom = y + node.height + GAP;
            self.nodes.push(Node { x, y, width, ..node });
            bottom
        })
    }

    /// The routes and the WebSocket APIs that invoke a function.
    fn requests(&self, function: &Function) -> Vec<Node> {
        let mut roots: Vec<String> = function.routes.iter().map(|it| root_of(&it.key)).collect();
        let title = format!("HTTP, {}", counted(roots.len(), "route"));
        roots.dedup();
        let id = &function.logical_id;
        let routes = Node::new(Kind::Request, &title, id, wrapped(&roots));
        let sockets = self.stack.websockets.iter();
        let sockets = sockets.filter(|api| api.routes.iter().any(|it| it.function == *id));
        let sockets =
            sockets.map(|api| Node::new(Kind::Request, "WebSocket", id, [api.logical_id.clone()]));
        (!roots.is_empty()).then_some(routes).into_iter().chain(sockets).collect()
    }

    /// The topics, queues and schedules that invoke a function; more than two queues are one node.
    fn events(&self, function: &Function) -> Vec<Node> {
        let subscription =
            |queue: &Queue| self.stack.subscriptions.iter().find(|it| it.endpoint == queue.arn);
        let arns = function.queue_events.iter().map(|it| &it.queue_arn);
        let mut queues: Vec<&Queue> = arns.filter_map(|arn| self.stack.queue_by_arn(arn)).collect();
        // Right below the topic that delivers to them.
        queues.sort_by_key(|queue| subscription(queue).is_none());
        let arns: Vec<_> =
            queues.iter().filter_map(|it| Some(&subscription(it)?.topic_arn)).collect();
        let topics = self.stack.topics.iter().filter(|topic| arns.contains(&&topic.arn));
        let node = |id: &str, arn: &str| self.resource(Kind::Message, id, arn);
        let mut nodes: Vec<Node> = topics.map(|it| node(&it.logical_id, &it.arn)).collect();
        if let [first, _, .., last] = queues.as_slice()
            && queues.len() > 2
        {
            let names = [first.logical_id.clone(), format!("… {}", last.logical_id)];
            let group = Node::new(Kind::Message, &counted(queues.len(), "queue"), "", names);
            let keys = queues.iter().map(|queue| queue.arn.clone()).collect();
            nodes.push(Node { keys, ..group });
        } else {
            nodes.extend(queues.iter().map(|it| node(&it.logical_id, &it.arn)));
        }
        nodes.extend(function.schedules.iter().map(|schedule| {
            let title = match &schedule.expression {
                Expression::Rate(rate) if rate.as_secs() == 60 => "every minute".to_owned(),
                Expression::Rate(rate) => format!("every {} minutes", rate.as_secs() / 60),
                Expression::Cron(fields) => format!("cron({fields})"),
            };
            Node::new(Kind::Schedule, &title, &function.logical_id, None)
        }));
        nodes
    }

    /// A resource, noting how many functions of other systems use it.
    fn resource(&self, kind: Kind, logical_id: &str, arn: &str) -> Node {
        let all = self.stack.functions.iter().filter(|it| may_use(it, arn)).count();
        let others = all - self.functions.iter().filter(|it| may_use(it, arn)).count();
        let users = (others > 0).then(|| format!("and {} elsewhere", counted(others, "function")));
        Node::new(kind, logical_id, arn, users)
    }

    fn find(&self, key: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.keys.iter().any(|it| it == key))
    }

    /// The edges from what invokes a function, and to what its policies name.
    fn connect(&mut self, function: &Function) {
        let place = self.find(&function.arn);
        let invokes = |key: &String| {
            *key == function.logical_id
                || function.queue_events.iter().any(|it| it.queue_arn == *key)
        };
        for at in 0..self.nodes.len() {
            let Node { keys, kind, .. } = &self.nodes[at];
            let (kind, used) = (*kind, keys.iter().any(|key| may_use(function, key)));
            if keys.iter().any(invokes) {
                self.add_edge(Some(at), place, kind);
            }
            if used {
                self.add_edge(place, Some(at), kind);
            }
        }
    }

    fn add_edge(&mut self, from: Option<usize>, to: Option<usize>, kind: Kind) {
        let (Some(from), Some(to)) = (from, to) else { return };
        let ends = [(from, to), (to, from)];
        match self.edges.iter_mut().find(|it| ends.contains(&(it.from, it.to))) {
            Some(edge) => edge.both_ways |= edge.from == to,
            None => self.edges.push(Edge { from, to, kind, both_ways: false }),
        }
    }
}

impl Node {
    fn new(kind: Kind, title: &str, key: &str, notes: impl IntoIterator<Item = String>) -> Self {
        let (keys, title) = (vec![key.to_owned()], title.to_owned());
        let notes: Vec<String> = notes.into_iter().collect();
        let height = 28 + 14 * notes.len();
        Self { keys, kind, title, notes, x: 0, y: 0, width: 0, height }
    }
}

/// Whether a function may send to a queue, publish to a topic, or use a table or a bucket.
fn may_use(function: &Function, arn: &str) -> bool {
    let allowed = function.policies.iter().filter(|it| it.effect == Effect::Allow);
    let mut rests = allowed.flat_map(|it| &it.resources).filter_map(|it| it.strip_prefix(arn));
    rests.any(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The beginning of a route's path, without the prefix that most have in common.
fn root_of(key: &RouteKey) -> String {
    let RouteKey::Path { path, .. } = key else { return "every other path".to_owned() };
    let path = path.strip_prefix("/api/v1").unwrap_or(path);
    let length = if path.starts_with("/admin/") || path.starts_with("/internal/") { 3 } else { 2 };
    path.split('/').take(length).collect::<Vec<_>>().join("/")
}

/// Words in lines that fit the first column.
fn wrapped(words: &[String]) -> Vec<String> {
    words.iter().fold(Vec::new(), |mut lines: Vec<String>, word| {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 27 => line.extend([", ", word.as_str()]),
            _ => lines.push(word.clone()),
        }
        lines
    })
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
