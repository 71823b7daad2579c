//! The command line.

use std::path::{Path, PathBuf};

use clap::builder::{ArgPredicate, PossibleValuesParser};
use clap::{Parser, Subcommand};
use domain::accounts::PresentedKey;
use local::remote::RemoteFunctions;
use local::systems;

/// Switchyard on this machine: everything template.yaml describes, in one process.
#[derive(Parser)]
#[command(bin_name = "cargo run --", args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Start these systems, such as links,jobs, and what every deployment has
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,
    /// Where the HTTP API answers, or the next free port
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub(crate) port: u16,
    /// Where data is kept between runs
    #[arg(long, value_name = "DIR", default_value = ".local")]
    data: PathBuf,
    /// Forget what is kept there first
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Keep nothing
    #[arg(long, conflicts_with_all = ["data", "fresh"])]
    memory: bool,
    /// DynamoDB, SQS, SNS, S3 and @connections on a port, for outside tools
    #[arg(long, value_name = "N", default_value_if("functions", ArgPredicate::IsPresent, "4566"))]
    pub(crate) aws_port: Option<u16>,
    /// The admin key is root.S instead of a random one
    #[arg(long, value_name = "S", value_parser = secret)]
    pub(crate) admin_secret: Option<String>,
    /// Leave the functions to `cargo lambda watch` at URL (implies --aws-port 4566)
    #[arg(long, value_name = "URL", value_parser = RemoteFunctions::parse)]
    pub(crate) functions: Option<RemoteFunctions>,
    /// Read another template
    #[arg(long, value_name = "FILE", default_value_os_t = template())]
    pub(crate) template: PathBuf,
    /// No line for each request and message
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// What to do instead of running.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Write the OpenAPI document and the routes of `cargo lambda watch` anew
    Document,
    /// Draw docs/architecture.svg anew from the templates
    Diagram,
}

impl Arguments {
    /// Where data is kept; `None` if nowhere.
    pub(crate) fn folder(&self) -> Option<&Path> {
        (!self.memory).then_some(&self.data)
    }

    /// The template's parameters that switch systems; none leaves all on.
    pub(crate) fn switches(&self) -> Vec<(String, String)> {
        if self.only.is_empty() { Vec::new() } else { systems::only(&self.only) }
    }
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(systems::all().into_iter().map(|system| system.name))
}

fn secret(text: &str) -> Result<String, String> {
    match PresentedKey::parse(&format!("root.{text}")) {
        Some(_) => Ok(text.to_owned()),
        None => Err("it has up to 128 digits and letters".to_owned()),
    }
}

/// The template of the folder we are in, or of the workspace this was built from.
fn template() -> PathBuf {
    let here = Path::new("template.yaml");
    if here.exists() { here.to_owned() } else { root().join("template.yaml") }
}

/// The workspace this was built from.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_owned()
}
