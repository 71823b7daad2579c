//! The mail server, command by command.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::{Behaviour, ProviderKind, Sink, SinkOptions};

struct Client(BufReader<TcpStream>);

impl Client {
    async fn new(sink: &Sink) -> Self {
        let mut client = Self(BufReader::new(TcpStream::connect(sink.smtp()).await.unwrap()));
        assert!(client.read_reply().await.starts_with("220 "));
        client
    }

    /// One answer, all its lines.
    async fn read_reply(&mut self) -> String {
        let mut answer = String::new();
        loop {
            let start = answer.len();
            if self.0.read_line(&mut answer).await.unwrap() == 0 {
                return answer;
            }
            if answer.as_bytes()[start..].get(3) != Some(&b'-') {
                return answer;
            }
        }
    }

    async fn send(&mut self, text: &str) -> String {
        self.0.get_mut().write_all(text.as_bytes()).await.unwrap();
        self.read_reply().await
    }
}

async fn sink() -> Sink {
    Sink::start(SinkOptions::default()).await.unwrap()
}

#[tokio::test]
async fn a_mail_is_kept_with_its_dots() {
    let sink = sink().await;
    let mut client = Client::new(&sink).await;
    let offered = client.send("EHLO me\r\n").await;
    for extension in ["SIZE", "8BITMIME", "PIPELINING", "AUTH PLAIN LOGIN"] {
        assert!(offered.contains(extension), "{offered}");
    }
    for (line, code) in [
        ("MAIL FROM:<a@b.c> SIZE=100 BODY=8BITMIME\r\n", "250"),
        ("RCPT TO:<d@e.f>\r\n", "250"),
        ("rcpt to:<g@h.i>\r\n", "250"),
        ("DATA\r\n", "354"),
        ("Subject: dots\r\n\r\n..one\r\n...\r\nend\r\n.\r\n", "250"),
        ("NOOP\r\n", "250"),
        ("QUIT\r\n", "221"),
    ] {
        let answer = client.send(line).await;
        assert!(answer.starts_with(code), "{line}: {answer}");
    }
    let mail = sink.sent(ProviderKind::Smtp).remove(0);
    assert_eq!((mail.to.as_str(), mail.title.as_str()), ("d@e.f, g@h.i", "dots"));
    assert_eq!(mail.text.replace('\r', "").trim_end(), ".one\n..\nend");
}

#[tokio::test]
async fn commands_may_come_all_at_once() {
    let sink = sink().await;
    let mut client = Client::new(&sink).await;
    client.send("EHLO me\r\n").await;
    let first = client.send("MAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nDATA\r\n").await;
    assert!(first.starts_with("250"));
    assert!(client.read_reply().await.starts_with("250"));
    assert!(client.read_reply().await.starts_with("354"));
    assert!(client.send("hello\r\n.\r\nQUIT\r\n").await.starts_with("250"));
    assert_eq!(sink.sent(ProviderKind::Smtp).len(), 1);
}

#[tokio::test]
async fn what_is_out_of_order_is_refused() {
    let sink = sink().await;
    let mut client = Client::new(&sink).await;
    for (line, code) in [
        ("MAIL FROM:<a@b.c>\r\n", "503"),
        ("HELO me\r\n", "250"),
        ("RCPT TO:<d@e.f>\r\n", "503"),
        ("DATA\r\n", "503"),
        ("MAIL FROM:a@b.c\r\n", "501"),
        ("MAIL FROM:<a@b.c> SIZE=99999999999\r\n", "552"),
        ("MAIL FROM:<a@b.c>\r\n", "250"),
        ("DATA\r\n", "503"),
        ("MAIL FROM:<a@b.c>\r\n", "250"),
        ("RCPT TO:<>\r\n", "452"),
        ("RSET\r\n", "250"),
        ("RCPT TO:<d@e.f>\r\n", "503"),
        ("WHAT\r\n", "502"),
        ("AUTH GSSAPI\r\n", "504"),
    ] {
        let answer = client.send(line).await;
        assert!(answer.starts_with(code), "{line}: {answer}");
    }
    assert!(sink.messages().is_empty());
}

#[tokio::test]
async fn only_valid_credentials_authenticate() {
    use base64::Engine as _;
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let sink = sink().await;
    let password = sink.settings()["smtp"]["password"].as_str().unwrap().to_owned();
    for (given, code) in [(password.as_str(), "235"), ("wrong", "535")] {
        let plain = encode(&format!("\0sink\0{given}"));
        let mut client = Client::new(&sink).await;
        client.send("EHLO me\r\n").await;
        assert!(client.send(&format!("AUTH PLAIN {plain}\r\n")).await.starts_with(code));
        assert!(client.send("AUTH PLAIN\r\n").await.starts_with("334"));
        assert!(client.send(&format!("{plain}\r\n")).await.starts_with(code));
        assert!(client.send("AUTH LOGIN\r\n").await.starts_with("334"));
        assert!(client.send(&format!("{}\r\n", encode("sink"))).await.starts_with("334"));
        assert!(client.send(&format!("{}\r\n", encode(given))).await.starts_with(code));
    }
}

#[tokio::test]
async fn a_line_without_end_ends_the_conversation() {
    let sink = sink().await;
    let mut client = Client::new(&sink).await;
    assert_eq!(client.send(&"x".repeat(5000)).await, "");
}

#[tokio::test]
async fn a_mail_is_stored_before_the_connection_is_closed() {
    let sink = sink().await;
    sink.behave_next(ProviderKind::Smtp, 1, Behaviour::AcceptThenCut);
    let mut client = Client::new(&sink).await;
    client.send("EHLO me\r\n").await;
    client.send("MAIL FROM:<a@b.c>\r\n").await;
    client.send("RCPT TO:<d@e.f>\r\n").await;
    client.send("DATA\r\n").await;
    assert_eq!(client.send("hello\r\n.\r\n").await, "");
    assert_eq!(sink.sent(ProviderKind::Smtp).len(), 1);
}
