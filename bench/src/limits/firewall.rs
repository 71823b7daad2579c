//! The firewall with a hundred thousand networks: how long it takes to ask, to compile and to keep.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Instant;

use domain::limits::firewall::{
    Firewall, FirewallAction, FirewallDecision, FirewallRequest, FirewallRule, IpNetwork,
};

use super::memory::filled;
use super::timing::{Contestant, Latency, race};
use crate::Result;
use crate::cold::build_example;
use crate::table::{Table, Verdict};

const NETWORKS: u64 = 100_000;

/// The most that one rule may have.
const IN_A_RULE: usize = 5_000;

/// Addresses asked about: too many for a branch predictor to learn.
const ADDRESSES: u64 = 1 << 16;

const LOOKUP_AT_MOST_NS: f64 = 1_000.0;

pub(crate) fn measure() -> Result<Table> {
    let networks: Vec<IpNetwork> = (0..NETWORKS).map(network).collect();
    let lists: Vec<FirewallRule> =
        networks.chunks(IN_A_RULE).enumerate().map(|(at, part)| rule(at, part)).collect();
    let each: Vec<FirewallRule> =
        networks.chunks(1).enumerate().map(|(at, part)| rule(at, part)).collect();
    let mut table = Table::new("Firewall, 100,000 networks, IPv4 and IPv6 in equal parts", "bar");
    let (lists, in_lists) = compiled(lists);
    let (each, alone) = compiled(each);
    let refused = (0..ADDRESSES).filter(|number| judge(&lists, *number)).count();
    let same = (0..ADDRESSES).all(|number| judge(&lists, number) == judge(&each, number));

    let mut contestants = [
        Contestant::new("lookup, p50 · p99, 20 rules of 5,000 networks", looking(&lists)),
        Contestant::new("lookup, p50 · p99, 100,000 rules of one network", looking(&each)),
    ];
    let latencies = race(&mut contestants);
    for (contestant, latency) in contestants.iter().zip(&latencies) {
        let Latency { p50, .. } = *latency;
        let verdict = Verdict::Speed(p50 < LOOKUP_AT_MOST_NS);
        table.row(&contestant.what, latency.to_string(), "p50 < 1 µs", verdict);
    }
    let share = 100 * refused as u64 / ADDRESSES;
    table.row("refused of the addresses asked about, %", share.to_string(), "", Verdict::Note);
    let what = "both firewalls say the same of all of them";
    table.row(what, same.to_string(), "true", Verdict::Correct(same));
    table.row("compiling, ms here, 20 rules", in_lists, "", Verdict::Note);
    table.row("compiling, ms here, 100,000 rules", alone, "", Verdict::Note);
    let program = build_example("bench", "limits-memory")?;
    let [before, held, peak] = filled(&program, "firewall", NETWORKS)?;
    let what = "kept, MB resident, 100,000 rules (while compiling)";
    let measured = format!("{:.1} ({:.1})", held - before, peak - before);
    table.row(what, measured, "", Verdict::Note);
    Ok(table)
}

fn compiled(rules: Vec<FirewallRule>) -> (Firewall, String) {
    let started = Instant::now();
    let firewall = Firewall::compile(rules);
    (firewall, format!("{:.1}", started.elapsed().as_secs_f64() * 1e3))
}

fn looking(firewall: &Firewall) -> impl FnMut(usize) {
    let addresses: Vec<IpAddr> = (0..ADDRESSES).map(address).collect();
    move |request| {
        let ip = addresses[request % addresses.len()];
        black_box(firewall.evaluate(&asked(ip), 0));
    }
}

fn judge(firewall: &Firewall, number: u64) -> bool {
    firewall.evaluate(&asked(address(number)), 0) != FirewallDecision::Pass
}

fn asked(ip: IpAddr) -> FirewallRequest<'static> {
    FirewallRequest { ip: Some(ip), path: "/api/v1/jobs/7", method: "POST", header: &|_| None }
}

/// Of four addresses two are in a network that is listed, the others anywhere.
fn address(number: u64) -> IpAddr {
    let near = scattered(number) % NETWORKS;
    match (number % 4, network_start(near)) {
        (0 | 1, start) => start,
        (2, _) => IpAddr::V4(v4(!number)),
        (_, _) => IpAddr::V6(v6(!number)),
    }
}

fn network(number: u64) -> IpNetwork {
    let extra = u8::try_from(scattered(number) % 17).unwrap_or(0);
    let start = network_start(number);
    IpNetwork::containing(start, if start.is_ipv4() { 16 + extra } else { 32 + 2 * extra })
}

fn network_start(number: u64) -> IpAddr {
    if number.is_multiple_of(2) { IpAddr::V4(v4(number)) } else { IpAddr::V6(v6(number)) }
}

fn v4(number: u64) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::try_from(scattered(number) >> 32).unwrap_or(0))
}

/// In the part of IPv6 that is given out.
fn v6(number: u64) -> Ipv6Addr {
    let bits = scattered(number) >> 3 | 1 << 61;
    Ipv6Addr::from_bits(u128::from(bits) << 64)
}

fn rule(at: usize, networks: &[IpNetwork]) -> FirewallRule {
    FirewallRule {
        cidrs: networks.to_vec(),
        ..FirewallRule::new(format!("block-{at}"), FirewallAction::Deny)
    }
}

/// Numbers in a row, spread evenly (`SplitMix64`).
fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
