//! Tokens that hold, and those that must not.

use proptest::prelude::*;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_772_323_200 + seconds).unwrap()
}

fn key(id: &str) -> TokenKey {
    TokenKey::new(id, &[id.as_bytes()[0]; 32]).unwrap()
}

fn delivery() -> DeliveryId {
    DeliveryId::parse("0000000000000000000000000000.email").unwrap()
}

fn claims() -> Vec<TokenClaim> {
    vec![
        TokenClaim::Unsubscribe {
            user: UserId::outside("ada"),
            channel: Channel::Email,
            category: Category::parse("news").unwrap(),
        },
        TokenClaim::Open { delivery: delivery() },
        TokenClaim::Click {
            delivery: delivery(),
            target: "https://example.org/?a=b&c=d".to_owned(),
        },
    ]
}

#[test]
fn a_token_says_what_was_signed_for_its_scope_and_until_its_time() {
    let ring = KeyRing::new(key("a"), Vec::new());
    for claim in claims() {
        let token = ring.sign(&claim, at(60));
        assert!(
            token.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
        );
        for scope in [TokenScope::Unsubscribe, TokenScope::Open, TokenScope::Click] {
            let expected =
                if scope == claim.scope() { Ok(claim.clone()) } else { Err(InvalidToken::Forged) };
            assert_eq!(ring.verify(scope, &token, at(59)), expected);
        }
        assert_eq!(ring.verify(claim.scope(), &token, at(60)), Err(InvalidToken::Expired));
    }
}

#[test]
fn keys_rotate_and_those_that_are_gone_prove_nothing() {
    let claim = claims().remove(0);
    let old = KeyRing::new(key("a"), Vec::new()).sign(&claim, at(60));
    let both = KeyRing::new(key("b"), vec![key("a")]);
    assert_eq!(both.verify(claim.scope(), &old, at(0)), Ok(claim.clone()));
    assert!(both.sign(&claim, at(60)).starts_with("1.b."));
    let gone = KeyRing::new(key("b"), Vec::new());
    assert_eq!(gone.verify(claim.scope(), &old, at(0)), Err(InvalidToken::Forged));
    let same_name = KeyRing::new(TokenKey::new("a", &[9; 32]).unwrap(), Vec::new());
    assert_eq!(same_name.verify(claim.scope(), &old, at(0)), Err(InvalidToken::Forged));
}

#[test]
fn keys_are_long_and_are_not_printed() {
    assert!(TokenKey::new("a", &[1; 31]).is_none());
    assert!(TokenKey::new("", &[1; 32]).is_none() && TokenKey::new("a.b", &[1; 32]).is_none());
    assert_eq!(format!("{:?}", key("a")), "TokenKey(a)");
}

/// The code is HMAC-SHA256 of the hashed secret, as anyone else computes it.
#[test]
fn the_code_is_the_one_of_rfc_2104() {
    let known = key("a");
    let message: Vec<u8> = ["notification-token-1", "a", "claim"]
        .iter()
        .flat_map(|part| (part.len() as u64).to_be_bytes().into_iter().chain(part.bytes()))
        .collect();
    let pad = |with: u8| known.secret.map(|byte| byte ^ with);
    let inner = Sha256::digest([pad(0x36).as_slice(), &message].concat());
    let outer = Sha256::digest([pad(0x5c).as_slice(), &inner].concat());
    assert_eq!(known.mac("claim").finalize().into_bytes()[..], outer[..]);
}

proptest! {
    #[test]
    fn a_token_with_anything_changed_is_forged(index: prop::sample::Index, byte in 33_u8..127) {
        let ring = KeyRing::new(key("a"), vec![key("b")]);
        let claim = claims().remove(2);
        let token = ring.sign(&claim, at(60));
        let mut bytes = token.clone().into_bytes();
        let at_index = index.index(bytes.len());
        prop_assume!(bytes[at_index] != byte);
        bytes[at_index] = byte;
        let updated = String::from_utf8(bytes).unwrap();
        prop_assert_eq!(ring.verify(claim.scope(), &updated, at(0)), Err(InvalidToken::Forged));
    }

    #[test]
    fn no_text_is_a_token(text in ".{0,200}") {
        let ring = KeyRing::new(key("a"), Vec::new());
        prop_assert_eq!(ring.verify(TokenScope::Open, &text, at(0)), Err(InvalidToken::Forged));
    }
}
