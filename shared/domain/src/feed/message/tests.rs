//! Messages read back, and say little.

use super::*;
use crate::feed::fan_out::SlotRange;
use crate::feed::samples::{at, id, person, post};

#[test]
fn messages_are_tagged_versioned_and_read_back() {
    let page = FollowerPage { range: SlotRange { from: 0, to: 9 }, after: Some(person(3)) };
    let name = id(1).text();
    let all = [
        (FeedMessage::post_created(&post(1, 1)), format!(r#"{{"type":"PostCreated","v":1,"postId":"{name}","author":"p1","version":1}}"#)),
        (FeedMessage::post_deleted(&post(1, 1)), format!(r#"{{"type":"PostDeleted","v":1,"postId":"{name}","author":"p1"}}"#)),
        (
            FeedMessage::fan_out_page(person(1), FanOutTask::Push { post_id: id(1), version: 1 }, page.clone()),
            format!(
                r#"{{"type":"FanOutPage","v":1,"author":"p1","task":{{"for":"push","postId":"{name}","version":1}},"page":{{"range":{{"from":0,"to":9}},"after":"p3"}}}}"#
            ),
        ),
        (
            FeedMessage::fan_out_page(person(1), FanOutTask::Purge { post_id: id(1) }, FollowerPage { after: None, ..page.clone() }),
            format!(
                r#"{{"type":"FanOutPage","v":1,"author":"p1","task":{{"for":"purge","postId":"{name}"}},"page":{{"range":{{"from":0,"to":9}}}}}}"#
            ),
        ),
        (
            FeedMessage::fan_out_page(person(1), FanOutTask::Mark { epoch: 4 }, FollowerPage { after: None, ..page }),
            r#"{"type":"FanOutPage","v":1,"author":"p1","task":{"for":"mark","epoch":4},"page":{"range":{"from":0,"to":9}}}"#.to_owned(),
        ),
        (
            FeedMessage::Followed { v: 1, follower: person(2), author: person(1), version: 4 },
            r#"{"type":"Followed","v":1,"follower":"p2","author":"p1","version":4}"#.to_owned(),
        ),
        (
            FeedMessage::Unfollowed { v: 1, follower: person(2), author: person(1) },
            r#"{"type":"Unfollowed","v":1,"follower":"p2","author":"p1"}"#.to_owned(),
        ),
        (
            FeedMessage::ReachCrossed { v: 1, author: person(1), epoch: 3 },
            r#"{"type":"ReachCrossed","v":1,"author":"p1","epoch":3}"#.to_owned(),
        ),
        (
            FeedMessage::ReaderReturned { v: 1, reader: person(1), epoch: 3 },
            r#"{"type":"ReaderReturned","v":1,"reader":"p1","epoch":3}"#.to_owned(),
        ),
        (
            FeedMessage::Connected { v: 1, reader: person(1), connection: "c=".to_owned(), since: at(5) },
            r#"{"type":"Connected","v":1,"reader":"p1","connection":"c=","since":"2026-03-01T00:00:05Z"}"#.to_owned(),
        ),
        (
            FeedMessage::AudiencePage { v: 1, post_id: id(1), author: person(1), after: None },
            format!(r#"{{"type":"AudiencePage","v":1,"postId":"{name}","author":"p1"}}"#),
        ),
        (
            FeedMessage::AudiencePage { v: 1, post_id: id(1), author: person(1), after: Some("c=".to_owned()) },
            format!(r#"{{"type":"AudiencePage","v":1,"postId":"{name}","author":"p1","after":"c="}}"#),
        ),
        (
            FeedMessage::CountsMoved { v: 1, post_id: id(1) },
            format!(r#"{{"type":"CountsMoved","v":1,"postId":"{name}"}}"#),
        ),
    ];
    for (message, json) in all {
        assert_eq!(serde_json::to_string(&message).unwrap(), json);
        assert_eq!(serde_json::from_str::<FeedMessage>(&json).unwrap(), message);
        let newer = json.replacen('{', r#"{"later":true,"#, 1);
        assert_eq!(serde_json::from_str::<FeedMessage>(&newer).unwrap(), message);
    }
}
