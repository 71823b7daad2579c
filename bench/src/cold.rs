//! Cold start: what a release binary weighs, and what it does until its first answer.
//!
//! Instructions are counted by callgrind and repeat to 0.1 % on a busy machine too; only
//! they, sizes and calls have bars. Milliseconds are shown, and are this machine's, not Lambda's.

pub(crate) mod all_functions;
mod process;
mod runtime_api;
mod sample;
mod store;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::Result;
use crate::table::{Table, Verdict, grouped};
pub(crate) use process::target;
use process::{Harness, Measured};
use sample::{EMPTY, FUNCTIONS, Sample};
use store::Store;

/// The roots that a function trusts where AWS is at the other end.
const AMAZON_ROOTS: &str = include_str!("../../shared/boundary/src/aws/amazon-roots.pem");

const MAX_ZIP_BYTES: u64 = 3_000_000;
const MAX_COLD_INSTRUCTIONS: u64 = 14_000_000;

/// Where distributions keep the root certificates they trust; al2023's is the second.
const CA_BUNDLES: [&str; 2] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];

/// Measures `function` over `invokes` warm invocations and says whether every bar was cleared.
pub(crate) fn run(function: &str, invokes: usize) -> bool {
    let Some(sample) = FUNCTIONS.iter().find(|sample| sample.name == function) else {
        let known = FUNCTIONS.map(|sample| sample.name).join(", ");
        println!("There is no sample request for `{function}`. Known: {known}.");
        return false;
    };
    match measure(sample, invokes) {
        Ok(table) => table.print(),
        Err(error) => {
            println!("Measuring `{function}` failed: {error}");
            false
        }
    }
}

fn measure(sample: &Sample<'_>, invokes: usize) -> Result<Table> {
    let kept = process::target()?.join("cold");
    fs::create_dir_all(&kept)?;
    let store = Store::new()?;
    let trust = TrustStores::write(&kept, &store.root)?;
    let mut table = Table::new(&format!("Cold start of `{}`", sample.name), "bar");

    let binary = process::build(sample)?;
    weigh(&binary, &mut table)?;
    let harness = Harness { store: &store, binary: &binary, trust: &trust.pinned, sample };
    show(&harness.time(invokes + 1)?, &mut table);
    if !has_valgrind() {
        table.row("instructions", "valgrind is missing".to_owned(), "", Verdict::Note);
        return Ok(table);
    }
    count(&harness, invokes, &kept, &mut table)?;
    let harness = Harness { trust: &trust.system, ..harness };
    let cold = harness.count(1, &kept.join("bundle.callgrind"))?;
    let what =
        format!("instructions, cold, trusting the system's {} roots too", trust.system_roots);
    table.row(&what, grouped(cold), "", Verdict::Note);

    let binary = process::build(&EMPTY)?;
    let harness = Harness { binary: &binary, sample: &EMPTY, trust: &trust.pinned, ..harness };
    let (cold, warm) = cold_and_warm(&harness, invokes, &kept)?;
    table.row("an empty function: cold", grouped(cold), "", Verdict::Note);
    table.row("an empty function: warm", grouped(warm), "", Verdict::Note);
    Ok(table)
}

fn weigh(binary: &Path, table: &mut Table) -> Result {
    let bytes = fs::read(binary)?;
    table.row("binary, bytes", grouped(bytes.len() as u64), "", Verdict::Note);
    let zip = zipped(&bytes)?;
    let verdict = Verdict::Counted(zip <= MAX_ZIP_BYTES);
    table.row("zip, bytes (deflate 6, one entry)", grouped(zip), "≤ 3,000,000", verdict);
    Ok(())
}

fn show(seen: &Measured, table: &mut Table) {
    let milliseconds = |time: std::time::Duration| format!("{:.2}", time.as_secs_f64() * 1e3);
    let mut note = |what: &str, measured| table.row(what, measured, "", Verdict::Note);
    note("store calls in the whole run", grouped(seen.store_calls));
    note("peak memory, KiB", grouped(seen.peak_kib));
    note("first answer, ms here (not Lambda's)", milliseconds(seen.first_answer));
    note("warm answer, ms here, median", milliseconds(seen.warm));
}

fn count(harness: &Harness<'_>, invokes: usize, kept: &Path, table: &mut Table) -> Result {
    let (cold, warm) = cold_and_warm(harness, invokes, kept)?;
    let verdict = Verdict::Counted(cold <= MAX_COLD_INSTRUCTIONS);
    let what = "instructions, cold, with the first TLS call";
    table.row(what, grouped(cold), "≤ 14,000,000", verdict);
    table.row("instructions, warm, an invocation", grouped(warm), "", Verdict::Note);
    Ok(())
}

/// What a warm invocation takes is the difference between many and one.
fn cold_and_warm(harness: &Harness<'_>, invokes: usize, kept: &Path) -> Result<(u64, u64)> {
    let name = harness.sample.name;
    let profile = |run: &str| kept.join(format!("{name}.{run}.callgrind"));
    let cold = harness.count(1, &profile("cold"))?;
    let all = harness.count(1 + invokes, &profile("warm"))?;
    Ok((cold, all.saturating_sub(cold) / (invokes as u64).max(1)))
}

/// Builds an example of `package` as functions are built, and says where it is.
pub(crate) fn build_example(package: &str, name: &str) -> Result<PathBuf> {
    process::cargo_build(&["-p", package, "--example", name])?;
    Ok(process::target()?.join("release/examples").join(name))
}

/// How many instructions a program takes from its start to its end.
pub(crate) fn instructions(binary: &Path, arguments: &[&str]) -> Result<u64> {
    let profile = process::target()?.join("cold").join("program.callgrind");
    fs::create_dir_all(profile.parent().ok_or("no folder")?)?;
    let status = std::process::Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(binary)
        .args(arguments)
        .stdout(std::process::Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("{} failed", binary.display()).into());
    }
    process::total(&profile)
}

/// Two files of trusted roots: the stub's with those a function trusts on AWS, and the stub's with
/// all that the system trusts.
struct TrustStores {
    pinned: PathBuf,
    system: PathBuf,
    system_roots: usize,
}

impl TrustStores {
    fn write(folder: &Path, root: &str) -> io::Result<Self> {
        let bundle = CA_BUNDLES.iter().find_map(|path| fs::read_to_string(path).ok());
        let bundle = bundle.unwrap_or_default();
        let (pinned, system) = (folder.join("pinned.pem"), folder.join("system.pem"));
        fs::write(&pinned, format!("{AMAZON_ROOTS}\n{root}"))?;
        fs::write(&system, format!("{bundle}\n{root}"))?;
        Ok(Self { pinned, system, system_roots: bundle.matches("BEGIN CERTIFICATE").count() })
    }
}

/// The size of a zip file with the binary as its only entry, `bootstrap`: the deflated bytes, a
/// local header, a directory entry and the end of the directory.
fn zipped(bytes: &[u8]) -> io::Result<u64> {
    const NAME: u64 = "bootstrap".len() as u64;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len() as u64 + (30 + NAME) + (46 + NAME) + 22)
}

pub(crate) fn has_valgrind() -> bool {
    std::process::Command::new("valgrind").arg("--version").output().is_ok()
}
