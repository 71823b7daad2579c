//! What a worker calls itself: the machine, the process, and a little chance, since a container that
//! is started again often has the same name and the same process id.

/// A name that no other process has: 1 to 128 printable ASCII characters.
pub(super) fn unique() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let chance = getrandom::u32().unwrap_or_default();
    named(&host, std::process::id(), chance)
}

fn named(host: &str, process: u32, chance: u32) -> String {
    let host: String = host.chars().filter(char::is_ascii_graphic).take(64).collect();
    let host = if host.is_empty() { "worker" } else { &host };
    format!("{host}-{process}-{chance:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_the_machine_the_process_and_chance() {
        assert_eq!(named("build-7\n", 12, 255), "build-7-12-000000ff");
        assert_eq!(named("", 1, 0), "worker-1-00000000");
        assert!(named(&"x".repeat(300), u32::MAX, u32::MAX).len() <= 128);
        assert_ne!(unique(), unique());
    }
}
