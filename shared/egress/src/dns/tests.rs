//! Look-ups against a nameserver of our own, on UDP and TCP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use simple_dns::rdata::{A, CNAME, RData};
use simple_dns::{Name, Packet, PacketFlag, RCODE};

use self::server::{Transport, nameserver, record, reply, txt};
use super::{first_nameserver, parse_answer};
use crate::testing::in_time;
use crate::{Network, NetworkError};

mod server;

const NAME: &str = "_proof.example.org";

async fn txt_records(address: SocketAddr) -> Result<Vec<String>, NetworkError> {
    in_time(Network::system().with_nameserver(address).txt_records(NAME)).await
}

#[tokio::test]
async fn the_records_of_a_name_are_found_with_their_strings_joined() {
    let address = nameserver(|query, _| {
        let asked = Packet::parse(query).unwrap();
        assert!(asked.has_flags(PacketFlag::RECURSION_DESIRED));
        assert_eq!(asked.questions[0].qname, Name::new(NAME).unwrap());
        vec![reply(query, |packet| {
            packet.answers.push(record(NAME, txt(&["one"])));
            packet.answers.push(record(NAME, txt(&["in ", "two"])));
            packet.answers.push(record(NAME, RData::A(A { address: 1 })));
            packet.answers.push(record("other.example.org", txt(&["another name's"])));
        })]
    })
    .await;
    let network = Network::system().with_nameserver(address);
    for name in [NAME, "_Proof.Example.ORG", "_proof.example.org."] {
        assert_eq!(in_time(network.txt_records(name)).await.unwrap(), ["one", "in two"], "{name}");
    }
}

#[tokio::test]
async fn aliases_are_followed_and_circles_left() {
    let cname = |to| RData::CNAME(CNAME(Name::new(to).unwrap()));
    let address = nameserver(move |query, _| {
        vec![reply(query, |packet| {
            packet.answers.push(record("b.test", txt(&["at the end"])));
            packet.answers.push(record("a.test", cname("b.test")));
            packet.answers.push(record(NAME, cname("A.test")));
        })]
    })
    .await;
    assert_eq!(txt_records(address).await.unwrap(), ["at the end"]);
    let circle = nameserver(move |query, _| {
        vec![reply(query, |packet| {
            packet.answers.push(record(NAME, cname("a.test")));
            packet.answers.push(record("a.test", cname(NAME)));
        })]
    })
    .await;
    assert!(txt_records(circle).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_name_that_does_not_exist_has_no_records() {
    for code in [RCODE::NameError, RCODE::NoError] {
        let address =
            nameserver(move |query, _| vec![reply(query, |packet| *packet.rcode_mut() = code)])
                .await;
        assert!(txt_records(address).await.unwrap().is_empty(), "{code:?}");
    }
}

#[tokio::test]
async fn a_nameserver_in_trouble_is_asked_twice_and_then_given_up() {
    for code in [RCODE::ServerFailure, RCODE::Refused, RCODE::NotImplemented] {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let address = nameserver(move |query, _| {
            count.fetch_add(1, Ordering::Relaxed);
            vec![reply(query, |packet| *packet.rcode_mut() = code)]
        })
        .await;
        assert!(txt_records(address).await.is_err(), "{code:?}");
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }
}

#[tokio::test]
async fn a_lost_datagram_is_asked_for_again_with_another_id() {
    let ids = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&ids);
    let address = nameserver(move |query, _| {
        let mut ids = seen.lock().unwrap();
        ids.push(u16::from_be_bytes([query[0], query[1]]));
        let answer = reply(query, |packet| packet.answers.push(record(NAME, txt(&["late"]))));
        if ids.len() == 1 { vec![] } else { vec![answer] }
    })
    .await;
    // Two random ids may be alike once, but hardly twice.
    let mut differing = 0;
    for _ in 0..2 {
        assert_eq!(txt_records(address).await.unwrap(), ["late"]);
        let mut ids = ids.lock().unwrap();
        differing += usize::from(ids.windows(2).all(|pair| pair[0] != pair[1]));
        ids.clear();
    }
    assert!(differing > 0);
}

#[tokio::test]
async fn silence_ends_in_four_seconds() {
    let address = nameserver(|_, _| vec![]).await;
    let before = tokio::time::Instant::now();
    assert!(txt_records(address).await.is_err());
    let waited = before.elapsed().as_millis();
    assert!((3_900..6_000).contains(&waited), "{waited} ms");
}

#[tokio::test]
async fn a_cut_answer_is_asked_for_again_over_tcp() {
    let address = nameserver(|query, transport| {
        let whole = reply(query, |packet| {
            let cut = transport == Transport::Udp;
            packet.answers.extend((0..100).map(|_| record(NAME, txt(&["long and whole"]))));
            packet.set_flags(if cut { PacketFlag::TRUNCATION } else { PacketFlag::empty() });
        });
        // Some servers cut in the middle of a record.
        let sent = if transport == Transport::Udp { &whole[..500] } else { &whole };
        vec![sent.to_vec()]
    })
    .await;
    assert_eq!(txt_records(address).await.unwrap(), vec!["long and whole"; 100]);
}

#[tokio::test]
async fn what_does_not_answer_the_question_is_passed_over() {
    let address = nameserver(|query, _| {
        let forged = |change: &dyn Fn(&mut Packet<'_>)| {
            reply(query, |packet| {
                packet.answers.push(record(NAME, txt(&["forged"])));
                change(packet);
            })
        };
        let other = Name::new("other.example.org").unwrap();
        let mut not_a_reply = forged(&|_| {});
        not_a_reply[2] &= 0x7f;
        vec![
            forged(&|packet| packet.set_id(packet.id().wrapping_add(1))),
            forged(&|packet| packet.questions[0].qname = other.clone()),
            forged(&|packet| packet.questions[0].qtype = simple_dns::TYPE::A.into()),
            forged(&|packet| packet.questions.clear()),
            forged(&|packet| packet.questions.push(packet.questions[0].clone())),
            not_a_reply,
            b"short".to_vec(),
            Vec::new(),
            reply(query, |packet| packet.answers.push(record(NAME, txt(&["true"])))),
        ]
    })
    .await;
    assert_eq!(txt_records(address).await.unwrap(), ["true"]);
}

#[tokio::test]
async fn what_is_no_name_is_not_asked_for() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let address = nameserver(move |query, _| {
        count.fetch_add(1, Ordering::Relaxed);
        vec![reply(query, |_| {})]
    })
    .await;
    let network = Network::system().with_nameserver(address);
    let long = [format!("{}.test", "a".repeat(64)), format!("{}test", "a.".repeat(130))];
    let odd = ["", ".", "a..b", ".a", "a b.test", "a\\.b.test", "é.test", "a\0.test"];
    for name in long.iter().map(String::as_str).chain(odd) {
        assert!(in_time(network.txt_records(name)).await.is_err(), "{name}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[test]
fn the_first_nameserver_is_the_one_that_is_asked() {
    for (configuration, expected) in [
        ("nameserver 169.254.169.253\nnameserver 1.1.1.1\n", "169.254.169.253:53"),
        ("# nameserver 9.9.9.9\nsearch x\n\tnameserver\t1.1.1.1  \n", "1.1.1.1:53"),
        ("nameserver fe80::1%eth0\nnameserver 2606:4700::1111\n", "[2606:4700::1111]:53"),
        ("nameservers 9.9.9.9\n", "127.0.0.1:53"),
        ("", "127.0.0.1:53"),
    ] {
        assert_eq!(first_nameserver(configuration).to_string(), expected, "{configuration:?}");
    }
}

proptest! {
    #[test]
    fn no_message_breaks_the_reader(mut message: Vec<u8>, counts: [u8; 6]) {
        let name = Name::new(NAME).unwrap();
        // A true beginning, so that what follows it is read.
        let mut answer = super::query_packet(7, &name).unwrap();
        answer[2] |= 0x80;
        answer[6..12].copy_from_slice(&counts);
        answer.append(&mut message);
        let _parsed = parse_answer(&answer, 7, &name);
    }
}
