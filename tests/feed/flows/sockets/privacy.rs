//! No reader is told of posts that they may not see.

use serde_json::json;

use super::clients::SocketLab;

#[tokio::test]
async fn who_is_blocked_muted_or_no_friend_is_never_heard() {
    for settings in ["{}", r#"{"pullFrom":2,"pushBelow":1}"#] {
        let town = SocketLab::of(&["ada", "bob", "friend", "muter"], settings).await;
        for who in ["bob", "friend", "muter"] {
            town.follow(who, "ada").await;
        }
        town.follow("ada", "friend").await;
        town.settle().await;
        town.people.put("muter", "mute", "ada").await;
        let (mut bob, mut friend) = (town.connect("bob").await, town.connect("friend").await);
        let mut muter = town.connect("muter").await;
        let before = town.now();

        let private = json!({ "text": "for me", "privacy": "PRIVATE" });
        town.post("ada", private).await;
        let friends = json!({ "text": "for friends", "privacy": "FRIENDS" });
        let friends = town.post("ada", friends).await;
        town.settle().await;
        assert_eq!(friend.named().await, [friends], "{settings}");

        // A block counts from the moment of its response on.
        let public = town.say("ada", "for all").await;
        town.people.put("ada", "block", "bob").await;
        let gone = town.say("ada", "gone").await;
        let deleted = town.people.delete("ada", &gone.text()).await;
        assert!(deleted.status.is_success(), "{}", deleted.body);
        town.settle().await;
        assert_eq!(friend.named().await, [public], "{settings}");
        town.pass_seconds(10);
        town.settle().await;
        assert!(bob.receives_nothing().await && muter.receives_nothing().await, "{settings}");

        // Nor when they come back and ask.
        for (target, expected) in
            [(&mut bob, vec![]), (&mut muter, vec![]), (&mut friend, vec![friends, public])]
        {
            target.all_named().await;
            target.say(&json!({ "type": "resume", "position": before })).await;
            assert_eq!(target.named().await, expected, "{settings}");
        }
    }
}
