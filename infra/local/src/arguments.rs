//! The command line.

use std::path::{Path, PathBuf};

use domain::accounts::ApiKey;
use local::functions_elsewhere::Remote;
use local::systems;

/// What `--help` prints.
pub(crate) const USAGE: &str = "\
Switchyard on this machine: everything template.yaml describes, in one process.

Usage: cargo run -- [options]
       cargo run -- document      write the OpenAPI document and its page anew

  --only NAMES      start these systems, such as links,jobs, and what every deployment has
  --port N          where the HTTP API answers (8080, or the next free port)
  --data DIR        where data is kept between runs (.local)
  --fresh           forget what is kept there first
  --memory          keep nothing
  --aws-port N      DynamoDB, SQS, SNS, S3 and @connections on a port, for outside tools
  --admin-secret S  the admin key is root.S instead of a random one
  --functions URL   leave the functions to `cargo lambda watch` at URL (implies --aws-port 4566)
  --template FILE   read another template
  --quiet           no line for each request and message";

/// What to do.
pub(crate) enum Command {
    Help,
    Document,
    Run(Arguments),
}

/// How to run.
pub(crate) struct Arguments {
    pub(crate) port: u16,
    pub(crate) aws_port: Option<u16>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) fresh: bool,
    pub(crate) quiet: bool,
    pub(crate) admin_secret: Option<String>,
    pub(crate) remote: Option<Remote>,
    pub(crate) template: PathBuf,
    /// The template's parameters that switch systems; none leaves all on.
    pub(crate) switches: Vec<(String, String)>,
}

impl Arguments {
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Command, String> {
        let mut arguments = Self {
            port: 8080,
            aws_port: None,
            folder: Some(PathBuf::from(".local")),
            fresh: false,
            quiet: false,
            admin_secret: None,
            remote: None,
            template: template(),
            switches: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "document" => return Ok(Command::Document),
                "--help" | "-h" => return Ok(Command::Help),
                "--only" => arguments.switches = systems::only(&value()?)?,
                "--port" => arguments.port = port(&value()?)?,
                "--aws-port" => arguments.aws_port = Some(port(&value()?)?),
                "--data" => arguments.folder = Some(PathBuf::from(value()?)),
                "--template" => arguments.template = PathBuf::from(value()?),
                "--admin-secret" => arguments.admin_secret = Some(secret(&value()?)?),
                "--functions" => arguments.remote = Some(Remote::at(&value()?)?),
                "--fresh" => arguments.fresh = true,
                "--memory" => arguments.folder = None,
                "--quiet" => arguments.quiet = true,
                unknown => return Err(format!("unknown option {unknown}\n\n{USAGE}")),
            }
        }
        if arguments.remote.is_some() {
            arguments.aws_port.get_or_insert(4566);
        }
        Ok(Command::Run(arguments))
    }
}

fn secret(text: &str) -> Result<String, String> {
    match ApiKey::parse(&format!("root.{text}")) {
        Some(_) => Ok(text.to_owned()),
        None => Err("--admin-secret takes up to 128 digits and letters".to_owned()),
    }
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("{text} is not a port number"))
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
