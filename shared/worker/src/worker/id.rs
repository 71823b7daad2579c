//! The default id of a worker: the machine, the process, and random digits, since a restarted container
//! often has the same name and the same process id.

/// An id that no other process has: 1 to 128 printable ASCII characters.
pub(super) fn unique() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let random = getrandom::u32().unwrap_or_default();
    format_id(&host, std::process::id(), random)
}

fn format_id(host: &str, process: u32, random: u32) -> String {
    let host: String = host.chars().filter(char::is_ascii_graphic).take(64).collect();
    let host = if host.is_empty() { "worker" } else { &host };
    format!("{host}-{process}-{random:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_the_machine_the_process_and_random_digits() {
        assert_eq!(format_id("build-7\n", 12, 255), "build-7-12-000000ff");
        assert_eq!(format_id("", 1, 0), "worker-1-00000000");
        assert!(format_id(&"x".repeat(300), u32::MAX, u32::MAX).len() <= 128);
        assert_ne!(unique(), unique());
    }
}
