//! The internet as the local cloud sees it: the machine's, with TXT records that a file can add, or
//! none at all.

use std::path::Path;
use std::sync::Arc;

use outside::{Network, NetworkError};

/// No way out: nothing resolves and nothing connects. The default in tests.
pub fn offline() -> Network {
    Network::system()
        .with_resolver(|_| {
            Box::pin(async { Err(NetworkError::new("resolve a name", "no network")) })
        })
        .with_txt_records(|_| Box::pin(async { Ok(Vec::new()) }))
        .with_connect(|_| Box::pin(async { Err(std::io::ErrorKind::NetworkUnreachable.into()) }))
}

/// The machine's own network. TXT records in `file`, one `name value` a line, come before those of
/// DNS, so that a custom domain can be tried without owning one.
pub fn with_txt_records(file: &Path) -> Network {
    let system = Network::system();
    let file: Arc<Path> = file.into();
    system.clone().with_txt_records(move |name| {
        let (system, file) = (system.clone(), Arc::clone(&file));
        Box::pin(async move {
            let written = records(&std::fs::read_to_string(&file).unwrap_or_default(), &name);
            if written.is_empty() { system.txt_records(&name).await } else { Ok(written) }
        })
    })
}

fn records(text: &str, name: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
    lines
        .filter(|(named, _)| named.trim_end_matches('.').eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim().trim_matches('"').to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_record() {
        let text =
            "_switchyard.go.example  one\n# x y\n_SWITCHYARD.go.example. \"two\"\nother three";
        assert_eq!(records(text, "_switchyard.go.example"), ["one", "two"]);
        assert!(records(text, "absent.example").is_empty());
    }
}
