//! Which hosts lead out to the public internet, as far as their text tells.
//!
//! Guarantee: what passes is a public address or a well-formed name of at least two labels under
//! none of the suffixes that networks keep for themselves. It expects what the URL parser wrote: ASCII,
//! lower case, numbers in any notation already turned into addresses.

use std::net::{IpAddr, Ipv4Addr};

use super::InvalidTarget;
use crate::links::public_ip::is_public;

/// Checks a host without brackets, port and final dot.
pub(super) fn check(host: &str) -> Result<(), InvalidTarget> {
    match host.parse::<IpAddr>() {
        Ok(address) if is_public(address) => Ok(()),
        Ok(_) => Err(InvalidTarget::Internal),
        Err(_) if host.is_empty() => Err(InvalidTarget::NoHost),
        Err(_) if !is_well_formed(host) => Err(InvalidTarget::Host),
        Err(_) if is_internal(host) || embeds_internal_address(host) => {
            Err(InvalidTarget::Internal)
        }
        Err(_) => Ok(()),
    }
}

/// Suffixes that never lead out: special-use names, those that networks made up and that the root
/// zone will not delegate for that reason, and cluster-internal ones.
const INTERNAL: [&str; 21] = [
    "alt",
    "arpa",
    "consul",
    "corp",
    "domain",
    "home",
    "internal",
    "intra",
    "intranet",
    "kube",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "mail",
    "onion",
    "private",
    "svc",
    "test",
    "workgroup",
    // Names of metadata services that are not under a suffix above.
    "metadata.tencentyun.com",
];

/// Public domains whose names resolve to the address that is written in them, or to this machine.
/// All of their names are refused: telling the harmless ones apart means knowing each one's notation.
const WILDCARD_DNS: [&str; 26] = [
    "1u.ms",
    "backname.io",
    "bugbounty.dod.network",
    "fuf.me",
    "ip6.name",
    "ipq.co",
    "lacolhost.com",
    "local-ip.co",
    "local-ip.sh",
    "local.gd",
    "localho.st",
    "localhost.direct",
    "localtest.me",
    "lvh.me",
    "nip.io",
    "plex.direct",
    "rbndr.us",
    "rebind.it",
    "rebind.network",
    "smackaho.st",
    "spoofed.burpcollaborator.net",
    "sslip.io",
    "traefik.me",
    "vcap.me",
    "xip.io",
    "xip.name",
];

/// Narrower than the URL standard, which lets `ex!ample.org` pass: letters, digits, hyphens and
/// underscores, in labels that DNS can carry.
fn is_well_formed(host: &str) -> bool {
    let carries = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    host.len() <= 253 && host.split('.').all(carries)
}

fn is_internal(host: &str) -> bool {
    let mut suffixes = INTERNAL.iter().chain(&WILDCARD_DNS);
    !host.contains('.') || suffixes.any(|suffix| is_under(host, suffix))
}

fn is_under(host: &str, suffix: &str) -> bool {
    host.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// True for `127.0.0.1.example.org` and `10-0-0-1.example.org`: services that answer such names with
/// the address come and go, and no other name needs a non-public address in it.
fn embeds_internal_address(host: &str) -> bool {
    let labels: Vec<&str> = host.split('.').collect();
    let dotted = labels.windows(4).map(|four| four.join("."));
    let dashed = labels.iter().map(|label| label.replace('-', "."));
    let mut addresses = dotted.chain(dashed).filter_map(|text| text.parse::<Ipv4Addr>().ok());
    addresses.any(|address| !is_public(address.into()))
}
