//! What may be said, and what becomes of it.

use super::*;
use crate::feed::samples::{at, id, person};

fn draft(json: &str) -> PostDraft {
    serde_json::from_str(json).unwrap()
}

fn refused(draft: PostDraft) -> String {
    let Err(Rejected::Field { field, .. }) = draft.checked(false) else { panic!("not refused") };
    field
}

fn post() -> Post {
    let body = draft(r##"{"text":"hello","tags":["#Rust","@ada","#rust"],"location":" Oslo "}"##);
    Post::new(id(1), person(1), body.checked(false).unwrap(), PostDelivery::Push, at(1))
}

#[test]
fn a_draft_is_tidied() {
    let body = post().body;
    assert_eq!(body.tags, ["#rust", "@ada"]);
    assert_eq!(body.location.as_deref(), Some("Oslo"));
    assert_eq!(body.privacy, Privacy::Public);
    for privacy in Privacy::ALL {
        let body =
            PostDraft { privacy: Some(privacy.name().to_owned()), ..draft(r#"{"text":"a"}"#) };
        assert_eq!(body.checked(false).unwrap().privacy, privacy);
        assert_eq!(serde_json::to_string(&privacy).unwrap(), format!("\"{}\"", privacy.name()));
    }
}

#[test]
fn a_draft_that_breaks_a_rule_names_the_field() {
    let long = |n: usize| PostDraft { text: Some("é".repeat(n)), ..PostDraft::default() };
    assert!(long(MAX_TEXT_LENGTH).checked(false).is_ok());
    let media = |n: usize| PostDraft {
        media: Some((0..n).map(|i| format!("m{i}")).collect()),
        ..PostDraft::default()
    };
    assert!(media(MAX_MEDIA).checked(false).is_ok());
    let tags = |tag: &str| PostDraft { tags: Some(vec![tag.to_owned()]), ..long(1) };
    for (draft, field) in [
        (long(MAX_TEXT_LENGTH + 1), "text"),
        (long(0), "text"),
        (draft(r#"{"text":" \n "}"#), "text"),
        (draft(r#"{"text":"a\u0000b"}"#), "text"),
        (media(MAX_MEDIA + 1), "media"),
        (draft(r#"{"media":["a","a"]}"#), "media"),
        (draft(r#"{"media":["../x"]}"#), "media"),
        (draft(r#"{"text":"a","privacy":"public"}"#), "privacy"),
        (PostDraft { location: Some("x".repeat(101)), ..long(1) }, "location"),
        (PostDraft { location: Some("a\nb".to_owned()), ..long(1) }, "location"),
        (tags("rust"), "tags"),
        (tags("#"), "tags"),
        (tags("#a b"), "tags"),
        (tags("@A b"), "tags"),
        (PostDraft { tags: Some((0..31).map(|i| format!("#t{i}")).collect()), ..long(1) }, "tags"),
    ] {
        assert_eq!(refused(draft), field);
    }
    assert!(serde_json::from_str::<PostDraft>(r#"{"text":"a","likes":9}"#).is_err());
}

#[test]
fn edits_move_on_what_they_change_and_nothing_else() {
    let post = post();
    let edit = |json: &str| serde_json::from_str::<PostEdit>(json).unwrap();
    let next = post.edited(edit(r#"{"text":"bye","location":""}"#), at(2)).unwrap().unwrap();
    assert_eq!((next.body.text.as_str(), next.body.location.as_deref()), ("bye", None));
    assert_eq!((next.state(), next.version, next.edited_at), (PostState::Edited, 2, Some(at(2))));
    assert_eq!(next.body.tags, post.body.tags);
    assert_eq!(post.edited(edit(r#"{"text":"hello"}"#), at(2)).unwrap(), None);
    assert!(post.edited(edit(r#"{"text":""}"#), at(2)).is_err());
    assert!(serde_json::from_str::<PostEdit>(r#"{"media":[]}"#).is_err());
}

#[test]
fn only_what_was_private_is_fanned_out_again() {
    let with = |privacy| Post { body: PostBody { privacy, ..post().body }, ..post() };
    for before in Privacy::ALL {
        for after in Privacy::ALL {
            let wider = before == Privacy::Private && after != Privacy::Private;
            assert_eq!(with(after).is_wider_than(&with(before)), wider);
        }
    }
}

#[test]
fn a_tombstone_has_no_words_and_no_way_back() {
    let gone = post().deleted(at(3)).unwrap();
    assert_eq!((gone.state(), gone.version), (PostState::Deleted, 2));
    assert_eq!((gone.id, &gone.author), (post().id, &post().author));
    assert!(gone.body.text.is_empty() && gone.body.tags.is_empty() && gone.body.media.is_empty());
    assert_eq!(gone.deleted(at(4)), None);
    assert_eq!(gone.hidden(at(4)), None);
    assert_eq!(gone.edited(PostEdit::default(), at(4)), Err(Rejected::UnknownPost));
    let hidden = post().hidden(at(2)).unwrap();
    assert_eq!(hidden.hidden(at(3)), None);
    assert_eq!(hidden.unhidden().unwrap().version, 3);
    assert_eq!(hidden.deleted(at(3)).unwrap().unhidden(), None);
}

#[test]
fn only_what_everybody_may_see_is_passed_on_and_chains_are_cut() {
    let mine = |n| Post::new(id(n), person(2), PostBody::default(), PostDelivery::Push, at(5));
    let first = mine(2).sharing(&post()).unwrap();
    assert_eq!(first.shares, Some(id(1)));
    assert_eq!(mine(3).sharing(&first).unwrap().shares, Some(id(1)));
    let friends = Post { body: PostBody { privacy: Privacy::Friends, ..post().body }, ..post() };
    for original in [friends, post().deleted(at(2)).unwrap(), post().hidden(at(2)).unwrap()] {
        assert_eq!(mine(4).sharing(&original), Err(Rejected::NotShareable));
    }
}

#[test]
fn words_are_not_printed() {
    assert!(!format!("{:?} {:?}", post(), post().body).contains("hello"));
}
