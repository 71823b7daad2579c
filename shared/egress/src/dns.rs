//! TXT records, queried from one recursive nameserver: UDP first, TCP when the answer was truncated.
//!
//! Guarantee: an answer counts only if it comes from the nameserver's address to the port of the
//! query, with the id and the question that were sent; each of two tries has a fresh id and a fresh
//! port. Absent: caching, recursion, DNSSEC and every record type but TXT and
//! the CNAMEs that lead to it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use simple_dns::rdata::RData;
use simple_dns::{
    CLASS, Name, Packet, PacketFlag, Question, RCODE, ResourceRecord, TYPE, header_buffer,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

use crate::NetworkError;

const ACTION: &str = "look up TXT records";
const TRIES: usize = 2;
const TRY_TIMEOUT: Duration = Duration::from_secs(2);

/// Without EDNS no UDP answer is longer than 512 bytes; the rest of the room is for servers that
/// forget that.
const UDP_BUFFER: usize = 4096;

/// The shortest record: a root name, type, class, lifetime and an empty body.
const MIN_RECORD_BYTES: usize = 11;

/// The machine's nameserver, or the local one that `resolv.conf` implies by naming none.
pub(crate) fn nameserver() -> SocketAddr {
    let configuration = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    first_nameserver(&configuration)
}

fn first_nameserver(configuration: &str) -> SocketAddr {
    let named = configuration.lines().find_map(|line| {
        let address = line.trim_start().strip_prefix("nameserver")?;
        address.starts_with([' ', '\t']).then(|| address.trim().parse::<IpAddr>().ok())?
    });
    SocketAddr::new(named.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), 53)
}

/// The TXT records of `name` as `nameserver` knows them.
pub(crate) async fn txt_records(
    nameserver: SocketAddr,
    name: &str,
) -> Result<Vec<String>, NetworkError> {
    let name = parse(name).ok_or_else(|| NetworkError::new(ACTION, "that is no name"))?;
    let mut error = NetworkError::new(ACTION, "no answer in time");
    for _ in 0..TRIES {
        match timeout(TRY_TIMEOUT, query(nameserver, &name)).await {
            Ok(Ok(records)) => return Ok(records),
            Ok(Err(cause)) => error = NetworkError::new(ACTION, cause),
            Err(_) => {}
        }
    }
    Err(error)
}

/// Plain names only, with or without the dot at the end: an escape could hide a label's bounds.
fn parse(name: &str) -> Option<Name<'_>> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let plain = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    if name.split('.').all(plain) { Name::new(name).ok() } else { None }
}

async fn query(nameserver: SocketAddr, name: &Name<'_>) -> io::Result<Vec<String>> {
    let id = random_id()?;
    let query = query_packet(id, name).map_err(io::Error::other)?;
    let mut answer = query_udp(nameserver, &query, id, name).await?;
    if header_buffer::has_flags(&answer, PacketFlag::TRUNCATION).map_err(io::Error::other)? {
        answer = query_tcp(nameserver, &query).await?;
    }
    parse_answer(&answer, id, name)
}

fn random_id() -> io::Result<u16> {
    let mut id = [0; 2];
    getrandom::fill(&mut id).map_err(|cause| io::Error::other(cause.to_string()))?;
    Ok(u16::from_be_bytes(id))
}

fn query_packet(id: u16, name: &Name<'_>) -> simple_dns::Result<Vec<u8>> {
    let mut packet = Packet::new_query(id);
    packet.set_flags(PacketFlag::RECURSION_DESIRED);
    packet.questions.push(Question::new(name.clone(), TYPE::TXT.into(), CLASS::IN.into(), false));
    packet.build_bytes_vec()
}

/// Receives until the answer comes: a datagram that does not belong to the question may be forged and
/// must not end the wait.
async fn query_udp(
    nameserver: SocketAddr,
    query: &[u8],
    id: u16,
    name: &Name<'_>,
) -> io::Result<Vec<u8>> {
    let anywhere = match nameserver {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let socket = UdpSocket::bind(anywhere).await?;
    socket.connect(nameserver).await?;
    socket.send(query).await?;
    let mut buffer = vec![0; UDP_BUFFER];
    loop {
        let length = socket.recv(&mut buffer).await?;
        if is_answer(&buffer[..length], id, name) {
            buffer.truncate(length);
            return Ok(buffer);
        }
    }
}

async fn query_tcp(nameserver: SocketAddr, query: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(nameserver).await?;
    let length = u16::try_from(query.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), query].concat()).await?;
    let length = stream.read_u16().await?;
    let mut answer = vec![0; usize::from(length)];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

/// True for a response with our id and our one question, complete or truncated.
fn is_answer(message: &[u8], id: u16, name: &Name<'_>) -> bool {
    let ours = header_buffer::id(message).is_ok_and(|found| found == id)
        && header_buffer::has_flags(message, PacketFlag::RESPONSE).unwrap_or(false)
        && header_buffer::questions(message).is_ok_and(|count| count == 1);
    ours && question_only(message).is_some_and(|question| {
        Packet::parse(&question).is_ok_and(|packet| asks_for(&packet, name))
    })
}

/// The message without its records: a truncated message may end inside one of them.
fn question_only(message: &[u8]) -> Option<Vec<u8>> {
    let mut header = message.to_vec();
    header.get_mut(6..12)?.fill(0);
    Some(header)
}

fn asks_for(packet: &Packet<'_>, name: &Name<'_>) -> bool {
    packet.questions.iter().all(|question| {
        question.qname == *name
            && question.qtype == TYPE::TXT.into()
            && question.qclass == CLASS::IN.into()
    })
}

fn parse_answer(message: &[u8], id: u16, name: &Name<'_>) -> io::Result<Vec<String>> {
    if !is_answer(message, id, name) {
        return Err(io::Error::other("an answer to another question"));
    }
    if record_count(message) > message.len() / MIN_RECORD_BYTES {
        return Err(io::Error::other("an answer that claims more than it holds"));
    }
    let packet = Packet::parse(message).map_err(io::Error::other)?;
    match header_buffer::rcode(message) {
        Ok(RCODE::NoError) => Ok(collect(&packet.answers, name)),
        Ok(RCODE::NameError) => Ok(Vec::new()),
        Ok(other) => Err(io::Error::other(format!("the nameserver answered {other:?}"))),
        Err(cause) => Err(io::Error::other(cause)),
    }
}

/// How many records the header announces; the parser would allocate for all of them.
fn record_count(message: &[u8]) -> usize {
    let counts = message.get(6..12).unwrap_or_default().chunks_exact(2);
    counts.map(|count| usize::from(u16::from_be_bytes([count[0], count[1]]))).sum()
}

/// The records of `name`, or of the name its CNAMEs lead to. A record that is not UTF-8 is none
/// that this system asks a domain's owner to publish, and is skipped.
fn collect(answers: &[ResourceRecord<'_>], name: &Name<'_>) -> Vec<String> {
    let mut owner = name;
    // A chain has no more links than there are records, even if it bites its tail.
    for _ in answers {
        let next = answers.iter().filter(|record| record.name == *owner).find_map(alias);
        match next {
            Some(next) => owner = next,
            None => break,
        }
    }
    answers.iter().filter(|record| record.name == *owner).filter_map(text).collect()
}

fn alias<'a>(record: &'a ResourceRecord<'_>) -> Option<&'a Name<'a>> {
    if let RData::CNAME(target) = &record.rdata { Some(&target.0) } else { None }
}

fn text(record: &ResourceRecord<'_>) -> Option<String> {
    if let RData::TXT(text) = &record.rdata { String::try_from(text.clone()).ok() } else { None }
}

#[cfg(test)]
mod tests;
