//! Compresses the script of the API reference once, at build time: a function's answer may have 6 MB, and a
//! browser should not fetch 5.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

#[expect(clippy::disallowed_methods, reason = "this is how cargo says where to write")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let script = scalar_api_reference::get_asset("scalar.js").ok_or("the crate has no script")?;
    let file = File::create(Path::new(&std::env::var("OUT_DIR")?).join("scalar.js.gz"))?;
    let mut encoder = GzEncoder::new(file, Compression::best());
    encoder.write_all(&script)?;
    encoder.finish()?;
    Ok(())
}
