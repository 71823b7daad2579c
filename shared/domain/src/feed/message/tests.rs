//! Messages read back, and say little.

use super::*;
use crate::feed::fan_out::Range;
use crate::feed::samples::{at, id, person, post};

#[test]
fn messages_are_tagged_versioned_and_read_back() {
    let page = PageOfFollowers { range: Range { from: 0, to: 9 }, after: Some(person(3)) };
    let name = id(1).text();
    let all = [
        (Message::created(&post(1, 1)), format!(r#"{{"type":"PostCreated","v":1,"postId":"{name}","author":"p1","version":1}}"#)),
        (Message::deleted(&post(1, 1)), format!(r#"{{"type":"PostDeleted","v":1,"postId":"{name}","author":"p1"}}"#)),
        (
            Message::page(person(1), Task::Push { post_id: id(1), version: 1 }, page.clone()),
            format!(
                r#"{{"type":"FanOutPage","v":1,"author":"p1","task":{{"for":"push","postId":"{name}","version":1}},"page":{{"range":{{"from":0,"to":9}},"after":"p3"}}}}"#
            ),
        ),
        (
            Message::page(person(1), Task::Purge { post_id: id(1) }, PageOfFollowers { after: None, ..page.clone() }),
            format!(
                r#"{{"type":"FanOutPage","v":1,"author":"p1","task":{{"for":"purge","postId":"{name}"}},"page":{{"range":{{"from":0,"to":9}}}}}}"#
            ),
        ),
        (
            Message::page(person(1), Task::Mark { epoch: 4 }, PageOfFollowers { after: None, ..page }),
            r#"{"type":"FanOutPage","v":1,"author":"p1","task":{"for":"mark","epoch":4},"page":{"range":{"from":0,"to":9}}}"#.to_owned(),
        ),
        (
            Message::Followed { v: 1, follower: person(2), author: person(1), version: 4 },
            r#"{"type":"Followed","v":1,"follower":"p2","author":"p1","version":4}"#.to_owned(),
        ),
        (
            Message::Unfollowed { v: 1, follower: person(2), author: person(1) },
            r#"{"type":"Unfollowed","v":1,"follower":"p2","author":"p1"}"#.to_owned(),
        ),
        (
            Message::ReachCrossed { v: 1, author: person(1), epoch: 3 },
            r#"{"type":"ReachCrossed","v":1,"author":"p1","epoch":3}"#.to_owned(),
        ),
        (
            Message::ReaderReturned { v: 1, reader: person(1), epoch: 3 },
            r#"{"type":"ReaderReturned","v":1,"reader":"p1","epoch":3}"#.to_owned(),
        ),
        (
            Message::Connected { v: 1, reader: person(1), connection: "c=".to_owned(), since: at(5) },
            r#"{"type":"Connected","v":1,"reader":"p1","connection":"c=","since":"2026-03-01T00:00:05Z"}"#.to_owned(),
        ),
        (
            Message::AudiencePage { v: 1, post_id: id(1), author: person(1), after: None },
            format!(r#"{{"type":"AudiencePage","v":1,"postId":"{name}","author":"p1"}}"#),
        ),
        (
            Message::AudiencePage { v: 1, post_id: id(1), author: person(1), after: Some("c=".to_owned()) },
            format!(r#"{{"type":"AudiencePage","v":1,"postId":"{name}","author":"p1","after":"c="}}"#),
        ),
        (
            Message::CountsMoved { v: 1, post_id: id(1) },
            format!(r#"{{"type":"CountsMoved","v":1,"postId":"{name}"}}"#),
        ),
    ];
    for (message, json) in all {
        assert_eq!(serde_json::to_string(&message).unwrap(), json);
        assert_eq!(serde_json::from_str::<Message>(&json).unwrap(), message);
        let newer = json.replacen('{', r#"{"later":true,"#, 1);
        assert_eq!(serde_json::from_str::<Message>(&newer).unwrap(), message);
    }
}
