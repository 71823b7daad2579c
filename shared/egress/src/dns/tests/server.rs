//! A nameserver on the loopback that says what a test tells it to.

use std::net::SocketAddr;
use std::sync::Arc;

use simple_dns::rdata::{RData, TXT};
use simple_dns::{CLASS, Name, Packet, ResourceRecord};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

/// What a nameserver sends for a query: any number of datagrams, or one message over TCP.
type Answers = dyn Fn(&[u8], Transport) -> Vec<Vec<u8>> + Send + Sync;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Udp,
    Tcp,
}

pub(super) async fn nameserver<F>(answers: F) -> SocketAddr
where
    F: Fn(&[u8], Transport) -> Vec<Vec<u8>> + Send + Sync + 'static,
{
    let (udp, tcp) = sockets().await;
    let address = udp.local_addr().unwrap();
    let answers: Arc<Answers> = Arc::new(answers);
    let over_tcp = Arc::clone(&answers);
    tokio::spawn(async move {
        let mut room = [0; 512];
        while let Ok((length, from)) = udp.recv_from(&mut room).await {
            for answer in answers(&room[..length], Transport::Udp) {
                udp.send_to(&answer, from).await.unwrap();
            }
        }
    });
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = tcp.accept().await {
            let length = stream.read_u16().await.unwrap();
            let mut query = vec![0; usize::from(length)];
            stream.read_exact(&mut query).await.unwrap();
            for answer in over_tcp(&query, Transport::Tcp) {
                stream.write_u16(u16::try_from(answer.len()).unwrap()).await.unwrap();
                stream.write_all(&answer).await.unwrap();
            }
        }
    });
    address
}

/// One port for both; another test may hold the number on the other side.
async fn sockets() -> (UdpSocket, TcpListener) {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            return (udp, tcp);
        }
    }
}

/// The reply to `query` with what `write` adds to it.
pub(super) fn reply(query: &[u8], write: impl FnOnce(&mut Packet<'_>)) -> Vec<u8> {
    let mut packet = Packet::parse(query).unwrap().into_reply();
    write(&mut packet);
    packet.build_bytes_vec().unwrap()
}

pub(super) fn record(owner: &'static str, data: RData<'static>) -> ResourceRecord<'static> {
    ResourceRecord::new(Name::new(owner).unwrap(), CLASS::IN, 60, data)
}

pub(super) fn txt(strings: &[&'static str]) -> RData<'static> {
    let record = strings.iter().fold(TXT::new(), |txt, text| txt.with_string(text).unwrap());
    RData::TXT(record)
}
