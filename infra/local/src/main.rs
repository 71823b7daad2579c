//! `cargo run`: the whole product on this machine, until Ctrl-C.

mod arguments;
mod console;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use arguments::{Arguments, Command};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Parser as _;
use console::Console;
use domain::accounts::SecretHash;
use local::{Cloud, Options, aws_port, diagram, document, network, pump, schedule, websocket};
use sink::Sink;
use tokio::net::TcpListener;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Some(Command::Document) => write_documents(),
        Some(Command::Diagram) => draw_architecture(&arguments.template),
        None => tokio::runtime::Runtime::new()
            .map_err(|error| error.to_string())
            .and_then(|runtime| runtime.block_on(run(arguments))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::print_error(&error);
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), String> {
    let console = Arc::new(Console::new(arguments.quiet));
    let folder = arguments.folder();
    if let Some(folder) = folder {
        prepare_folder(folder, arguments.fresh)?;
    }
    let _lock = folder.map(lock).transpose()?;
    let admin_key = match &arguments.admin_secret {
        Some(secret) => format!("root.{secret}"),
        None => load_or_create_secret(folder, "admin-key", admin_key)?,
    };
    let secret = admin_key.split_once('.').map_or("", |(_, secret)| secret);
    let mut options = Options::new(&arguments.template);
    options.folder = folder.map(Path::to_owned);
    options.log = console::log(folder)?;
    options.remote = arguments.functions.clone();
    options.network = match folder {
        Some(folder) => network::with_txt_records(&folder.join("dns.txt")),
        None => egress::Network::system(),
    };
    let (listener, url) = bind(arguments.port).await?;
    options.parameters = [
        ("Stage", "local".to_owned()),
        ("PublicUrl", url.clone()),
        (
            "SocketUrl",
            format!("{}{}FeedSocketApi", url.replacen("http", "ws", 1), websocket::PATH_PREFIX),
        ),
        ("TokenKeys", load_or_create_secret(folder, "token-keys", token_keys)?),
        ("AdminKeyHash", SecretHash::of(secret).to_hex()),
        // There is no CDN here, but its headers can be tried with curl.
        ("ViewerHeaders", "cloudfront".to_owned()),
        // Unoptimised and on one disk, the store here takes longer than the deployed one may.
        ("LimitsDeadlineMs", "2000".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    options.parameters.extend(arguments.switches());
    options.url = Some(url.clone());
    options.use_sink(start_sink(folder).await?);
    let cloud = Cloud::start(options)?;

    let mut aws_url = None;
    if let Some(port) = arguments.aws_port {
        let (listener, url) = bind(port).await?;
        tokio::spawn(aws_port::serve(listener, cloud.services.clone()));
        aws_url = Some(url);
    }
    if let Some(folder) = folder {
        console::write_env(folder, &url, &admin_key, aws_url.as_deref(), &cloud.stack)?;
    }
    console.banner(&cloud, &url, &admin_key, aws_url.as_deref(), folder);

    start_background(&cloud, &console);
    let requests = Arc::clone(&console);
    let serving = cloud.serve(
        listener,
        Arc::new(move |method, path, handled, took| requests.request(method, path, handled, took)),
    );
    tokio::select! {
        () = serving => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    // Instances send what they have gathered now; it is counted when the cloud starts again.
    cloud.functions.retire(Duration::ZERO).await;
    console.goodbye();
    Ok(())
}

/// How long an instance stays idle before it is shut down: not as long as on Lambda, so that what it
/// has gathered is sent soon.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

fn start_background(cloud: &Cloud, console: &Arc<Console>) {
    let messages = Arc::clone(console);
    let report: pump::BatchReporter =
        Arc::new(move |mapping, outcome, took| messages.batch(mapping, outcome, took));
    cloud.pump.start(&report);
    let runs = Arc::clone(console);
    let report: schedule::RunReporter =
        Arc::new(move |entry, outcome, took| runs.scheduled(entry, outcome, took));
    cloud.schedules.start(&cloud.clock_ms(), &report);
    let functions = cloud.functions.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            functions.retire(IDLE_TIMEOUT).await;
        }
    });
    let database = cloud.services.database().clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_mins(1)).await;
            // Expired rows go about as late as DynamoDB's own; nothing relies on it.
            let _ = database.sweep_ttl();
        }
    });
}

/// Listens on `port`, or on the next free one after saying so.
async fn bind(port: u16) -> Result<(TcpListener, String), String> {
    for candidate in port..=port.saturating_add(20) {
        let bound = TcpListener::bind(("127.0.0.1", candidate)).await;
        if let Ok(listener) = bound {
            if candidate != port {
                console::print_error(&format!("port {port} is taken; using {candidate} instead"));
            }
            let port = listener.local_addr().map_err(|error| error.to_string())?.port();
            return Ok((listener, format!("http://localhost:{port}")));
        }
    }
    Err(format!(
        "ports {port} to {} are all taken; choose one with --port",
        port.saturating_add(20)
    ))
}

fn prepare_folder(folder: &Path, fresh: bool) -> Result<(), String> {
    let at_path = |error: std::io::Error| format!("{}: {error}", folder.display());
    if fresh && folder.exists() {
        // Only a folder of ours is emptied: a mistyped --data must not cost anyone their files.
        if !folder.join("queues.sqlite").exists()
            && folder.read_dir().map_err(at_path)?.next().is_some()
        {
            return Err(format!(
                "--fresh would delete {}, which does not look like the local cloud's data",
                folder.display()
            ));
        }
        std::fs::remove_dir_all(folder).map_err(at_path)?;
    }
    std::fs::create_dir_all(folder).map_err(at_path)
}

/// Holds the folder for as long as the file is open, however this process ends.
fn lock(folder: &Path) -> Result<File, String> {
    let path = folder.join("lock");
    let file = File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(format!(
            "{} is in use by another local cloud; stop it, or choose another folder with --data",
            folder.display()
        )),
    }
}

/// A secret that is made once from random bytes and kept with the data.
fn load_or_create_secret(
    folder: Option<&Path>,
    name: &str,
    make: fn(&[u8; 32]) -> String,
) -> Result<String, String> {
    let file = folder.map(|folder| folder.join(name));
    let kept = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    if let Some(text) = kept.filter(|text| !text.trim().is_empty()) {
        return Ok(text.trim().to_owned());
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| error.to_string())?;
    let secret = make(&random);
    if let Some(file) = file {
        console::write_private(&file, &secret)?;
    }
    Ok(secret)
}

/// The bootstrap admin's key.
fn admin_key(random: &[u8; 32]) -> String {
    format!("root.{}", domain::base62::encode(random))
}

/// The key that links in mails are signed with.
fn token_keys(random: &[u8; 32]) -> String {
    format!("local:{}", STANDARD.encode(random))
}

/// The sink's ports for SMTP and HTTP, unless another process has them.
const SINK_PORTS: (u16, u16) = (2525, 8025);

/// Starts the sink on its usual ports, or on free ones.
async fn start_sink(folder: Option<&Path>) -> Result<Sink, String> {
    let options = |(smtp_port, http_port)| sink::SinkOptions {
        file: folder.map(|folder| folder.join("sent.jsonl")),
        smtp_port,
        http_port,
        ..sink::SinkOptions::default()
    };
    match Sink::start(options(SINK_PORTS)).await {
        Ok(sink) => Ok(sink),
        Err(_) => Sink::start(options((0, 0))).await.map_err(|error| format!("the sink: {error}")),
    }
}

/// Generates what is made from the operations: the document, and the routes of `cargo lambda watch`.
fn write_documents() -> Result<(), String> {
    let root = arguments::root();
    let text = serde_json::to_string_pretty(&document::openapi());
    let text = text.map_err(|error| error.to_string())? + "\n";
    let manifest = root.join("Cargo.toml");
    let kept = std::fs::read_to_string(&manifest)
        .map_err(|error| format!("{}: {error}", manifest.display()))?;
    let routed = document::routed(&kept)
        .ok_or_else(|| format!("{} has no routes for `cargo lambda watch`", manifest.display()))?;
    write(&root.join("functions/service/openapi.json"), &text)?;
    write(&manifest, &routed)
}

/// Draws the architecture from the templates.
fn draw_architecture(template: &Path) -> Result<(), String> {
    let stack = template::load(template, &BTreeMap::new()).map_err(|error| error.to_string())?;
    write(&arguments::root().join("docs/architecture.svg"), &diagram::architecture(&stack))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    console::print(&format!("wrote {}", file.display()));
    Ok(())
}
