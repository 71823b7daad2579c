//! What was acknowledged survives the death of the process.
//!
//! A killed process leaves its files as they are at that moment, so a copy of them, taken while
//! the queues are open, is what the next process finds.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::Request;
use queues::{Error, NewMessage, Publication, QueueDepth, Queues};

use crate::rig::{bodies, clock, map};

/// A directory that is removed with the value.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("queues-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What cannot be removed is left to the operating system.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Opens what a process that dies now would leave behind.
fn after_a_crash(directory: &Directory, live: &Path) -> Queues {
    let copy = directory.file("crashed");
    fs::copy(live, &copy).unwrap();
    fs::copy(live.with_extension("db-wal"), copy.with_extension("db-wal")).unwrap();
    fs::rename(&copy, copy.with_extension("db")).unwrap();
    Queues::open(&copy.with_extension("db"), clock().0).unwrap()
}

#[test]
fn messages_receipts_and_deliveries_survive_a_crash() {
    let directory = Directory::new("crash");
    let file = directory.file("live.db");
    let live = Queues::open(&file, clock().0).unwrap();
    let address = live.create_queue("q", &map(&[])).unwrap();
    let topic = live.create_topic("t").unwrap();
    live.subscribe(&topic, &address.arn, &map(&[("RawMessageDelivery", "true")])).unwrap();
    for body in ["sent", "held", "deleted"] {
        live.send("q", &NewMessage::text(body)).unwrap();
    }
    let got = live.receive("q", 3, None).unwrap();
    live.change_visibility("q", &got[0].receipt_handle, 0).unwrap();
    live.delete("q", &got[2].receipt_handle).unwrap();
    let published = Publication { message: "published".into(), ..Publication::default() };
    live.publish(&topic, &published).unwrap();

    let reopened = after_a_crash(&directory, &file);
    let depth = QueueDepth { visible: 2, in_flight: 1, delayed: 0 };
    assert_eq!(reopened.depth("q").unwrap(), depth);
    assert_eq!(bodies(&reopened.receive("q", 10, None).unwrap()), ["sent", "published"]);
    assert_eq!(
        reopened.delete("q", &got[1].receipt_handle).unwrap(),
        queues::ReceiptStatus::Current
    );
    reopened.publish(&topic, &published).unwrap();
    assert_eq!(bodies(&reopened.receive("q", 10, None).unwrap()), ["published"]);
}

#[tokio::test]
async fn a_delivery_that_fails_undoes_the_whole_publication() {
    let directory = Directory::new("atomic");
    let file = directory.file("live.db");
    let queues = Queues::open(&file, clock().0).unwrap();
    let topic = queues.create_topic("t").unwrap();
    for name in ["first", "second"] {
        let address = queues.create_queue(name, &map(&[])).unwrap();
        queues.subscribe(&topic, &address.arn, &map(&[])).unwrap();
    }
    let saboteur = rusqlite::Connection::open(&file).unwrap();
    let trigger = "CREATE TRIGGER full BEFORE INSERT ON messages
        WHEN NEW.queue = (SELECT id FROM queues WHERE name = 'second')
        BEGIN SELECT RAISE(ABORT, 'no space'); END";
    saboteur.execute_batch(trigger).unwrap();
    let published = Publication { message: "a".into(), ..Publication::default() };
    let error = queues.publish(&topic, &published).unwrap_err();
    assert!(matches!(&error, Error::Failed(_)), "{error:?}");
    assert_eq!(queues.depth("first").unwrap(), QueueDepth::default());

    let request = Request::post("/")
        .header("x-amz-target", "AmazonSQS.SendMessage")
        .body(Bytes::from(r#"{"QueueUrl": "second", "MessageBody": "a"}"#))
        .unwrap();
    let response = queues.handle(request).await;
    assert_eq!(response.status(), 500);
    let body = String::from_utf8_lossy(response.body()).into_owned();
    assert!(body.contains("could not send a message: no space"), "{body}");

    saboteur.execute_batch("DROP TRIGGER full").unwrap();
    queues.publish(&topic, &published).unwrap();
    assert_eq!(queues.depth("first").unwrap().visible, 1);
    assert_eq!(queues.depth("second").unwrap().visible, 1);
}

#[test]
fn an_orderly_end_keeps_everything_too() {
    let directory = Directory::new("orderly");
    let file = directory.file("live.db");
    {
        let queues = Queues::open(&file, clock().0).unwrap();
        queues.create_queue("q", &map(&[("VisibilityTimeout", "5")])).unwrap();
        queues.send("q", &NewMessage::text("a")).unwrap();
    }
    let queues = Queues::open(&file, clock().0).unwrap();
    assert_eq!(queues.queue_names().unwrap(), ["q"]);
    assert_eq!(bodies(&queues.receive("q", 10, None).unwrap()), ["a"]);
}

#[test]
fn a_file_that_is_no_database_is_a_failure_with_a_cause() {
    let directory = Directory::new("broken");
    let file = directory.file("live.db");
    fs::write(&file, "this is not a database, and long enough to be sure of it").unwrap();
    let failure = Queues::open(&file, clock().0).unwrap_err();
    assert_eq!(failure.to_string(), "could not prepare the queues");
    assert!(std::error::Error::source(&failure).is_some());
}
