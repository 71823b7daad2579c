//! TXT records, asked of one recursive nameserver: UDP first, TCP when the answer was cut.
//!
//! Guarantee: an answer counts only if it comes from the nameserver's address to the port asked
//! from, with the id and the question that were sent; each try has a fresh id and a fresh port, and
//! two tries are all there are. Absent: caching, recursion, DNSSEC and every record type but TXT and
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

use crate::Unreachable;

const ACTION: &str = "look up TXT records";
const TRIES: usize = 2;
const PATIENCE: Duration = Duration::from_secs(2);

/// Without EDNS no UDP answer is longer than 512 bytes; the rest of the room is for servers that
/// forget that.
const UDP_ROOM: usize = 4096;

/// The shortest record: a root name, type, class, lifetime and an empty body.
const MIN_RECORD: usize = 11;

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
pub(crate) async fn texts(nameserver: SocketAddr, name: &str) -> Result<Vec<String>, Unreachable> {
    let name = parse(name).ok_or_else(|| Unreachable::new(ACTION, "that is no name"))?;
    let mut trouble = Unreachable::new(ACTION, "no answer in time");
    for _ in 0..TRIES {
        match timeout(PATIENCE, ask(nameserver, &name)).await {
            Ok(Ok(texts)) => return Ok(texts),
            Ok(Err(cause)) => trouble = Unreachable::new(ACTION, cause),
            Err(_) => {}
        }
    }
    Err(trouble)
}

/// Plain names only, with or without the dot at the end: an escape could hide a label's bounds.
fn parse(name: &str) -> Option<Name<'_>> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let plain = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    if name.split('.').all(plain) { Name::new(name).ok() } else { None }
}

async fn ask(nameserver: SocketAddr, name: &Name<'_>) -> io::Result<Vec<String>> {
    let id = random_id()?;
    let query = query(id, name).map_err(io::Error::other)?;
    let mut answer = ask_udp(nameserver, &query, id, name).await?;
    if header_buffer::has_flags(&answer, PacketFlag::TRUNCATION).map_err(io::Error::other)? {
        answer = ask_tcp(nameserver, &query).await?;
    }
    read(&answer, id, name)
}

fn random_id() -> io::Result<u16> {
    let mut id = [0; 2];
    getrandom::fill(&mut id).map_err(|cause| io::Error::other(cause.to_string()))?;
    Ok(u16::from_be_bytes(id))
}

fn query(id: u16, name: &Name<'_>) -> simple_dns::Result<Vec<u8>> {
    let mut packet = Packet::new_query(id);
    packet.set_flags(PacketFlag::RECURSION_DESIRED);
    packet.questions.push(Question::new(name.clone(), TYPE::TXT.into(), CLASS::IN.into(), false));
    packet.build_bytes_vec()
}

/// Listens until the answer comes: what does not belong to the question may be forged and must not
/// end the wait.
async fn ask_udp(
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
    let mut room = vec![0; UDP_ROOM];
    loop {
        let length = socket.recv(&mut room).await?;
        if answers(&room[..length], id, name) {
            room.truncate(length);
            return Ok(room);
        }
    }
}

async fn ask_tcp(nameserver: SocketAddr, query: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(nameserver).await?;
    let length = u16::try_from(query.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), query].concat()).await?;
    let length = stream.read_u16().await?;
    let mut answer = vec![0; usize::from(length)];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

/// True for a response with our id and our one question, complete or cut.
fn answers(message: &[u8], id: u16, name: &Name<'_>) -> bool {
    let ours = header_buffer::id(message).is_ok_and(|found| found == id)
        && header_buffer::has_flags(message, PacketFlag::RESPONSE).unwrap_or(false)
        && header_buffer::questions(message).is_ok_and(|count| count == 1);
    ours && question_only(message)
        .is_some_and(|question| Packet::parse(&question).is_ok_and(|packet| asks(&packet, name)))
}

/// The message without its records: a cut message may end inside one of them.
fn question_only(message: &[u8]) -> Option<Vec<u8>> {
    let mut header = message.to_vec();
    header.get_mut(6..12)?.fill(0);
    Some(header)
}

fn asks(packet: &Packet<'_>, name: &Name<'_>) -> bool {
    packet.questions.iter().all(|question| {
        question.qname == *name
            && question.qtype == TYPE::TXT.into()
            && question.qclass == CLASS::IN.into()
    })
}

fn read(message: &[u8], id: u16, name: &Name<'_>) -> io::Result<Vec<String>> {
    if !answers(message, id, name) {
        return Err(io::Error::other("an answer to another question"));
    }
    if records(message) > message.len() / MIN_RECORD {
        return Err(io::Error::other("an answer that claims more than it holds"));
    }
    let packet = Packet::parse(message).map_err(io::Error::other)?;
    match header_buffer::rcode(message) {
        Ok(RCODE::NoError) => Ok(collect(&packet.answers, name)),
        Ok(RCODE::NameError) => Ok(Vec::new()),
        Ok(other) => Err(io::Error::other(format!("the nameserver said {other:?}"))),
        Err(cause) => Err(io::Error::other(cause)),
    }
}

/// How many records the header announces; the parser would set room aside for all of them.
fn records(message: &[u8]) -> usize {
    let counts = message.get(6..12).unwrap_or_default().chunks_exact(2);
    counts.map(|count| usize::from(u16::from_be_bytes([count[0], count[1]]))).sum()
}

/// The records of `name`, or of the name its CNAMEs lead to. A record that is not UTF-8 is none
/// that this system asked anyone to publish, and is passed over.
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
