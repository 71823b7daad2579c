//! Messages read back, and say little.

use super::*;
use crate::feed::fan_out::Range;
use crate::feed::samples::{at, id, person, post};

#[test]
fn messages_are_tagged_versioned_and_read_back() {
    let page = PageOfFollowers { range: Range { from: 0, to: 9 }, after: Some(person(3)) };
    let name = id(1).text();
    let all = [
        (Message::created(&post(1, 1)), format!(r#"{{"type":"PostCreated","v":1,"postId":"{name}","author":"p1"}}"#)),
        (Message::deleted(&post(1, 1)), format!(r#"{{"type":"PostDeleted","v":1,"postId":"{name}","author":"p1"}}"#)),
        (
            Message::page(person(1), Task::Push { post_id: id(1) }, page.clone()),
            format!(
                r#"{{"type":"FanOutPage","v":1,"author":"p1","task":{{"for":"push","postId":"{name}"}},"page":{{"range":{{"from":0,"to":9}},"after":"p3"}}}}"#
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
            Message::Followed { v: 1, follower: person(2), author: person(1) },
            r#"{"type":"Followed","v":1,"follower":"p2","author":"p1"}"#.to_owned(),
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

#[test]
fn hints_name_posts_and_where_to_resume() {
    let found = hint(id(5), vec![id(7), id(3), id(7)]);
    assert_eq!(found, Hint::NewPosts { v: 1, post_ids: vec![id(3), id(7)], position: id(7) });
    let json = serde_json::to_string(&found).unwrap();
    assert!(json.starts_with(r#"{"type":"newPosts","v":1,"postIds":["#), "{json}");
    assert_eq!(serde_json::from_str::<Hint>(&json).unwrap(), found);
    assert_eq!(
        hint(id(5), vec![id(3)]),
        Hint::NewPosts { v: 1, post_ids: vec![id(3)], position: id(5) }
    );
    let many = hint(id(5), (0..101).map(id).collect());
    assert_eq!(many, Hint::Reload { v: 1, position: id(100) });
    let said = format!(r#"{{"type":"resume","position":"{}"}}"#, id(5));
    assert_eq!(serde_json::from_str::<Said>(&said).unwrap(), Said::Resume { position: id(5) });
}

#[test]
fn who_resumes_is_told_of_what_came_late() {
    assert_eq!(resumes_from(id(1_000)), PostId::first_at(at(400)));
    assert_eq!(resumes_from(PostId::MIN), PostId::MIN);
}
