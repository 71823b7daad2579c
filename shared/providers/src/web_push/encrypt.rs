//! Encryption for one browser: aes128gcm (RFC 8188) with keys as in RFC 8291.
//!
//! By hand: `ece` and `web-push` need OpenSSL or have a licence that we avoid, `web-push-native` brings a
//! second crypto stack, and with ring it is forty lines.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};

/// Push services take 4,096 bytes, of which the header has 86, and the padding and the tag 17.
pub(super) const MAX_PLAINTEXT_BYTES: usize = 4096 - 86 - 17;

/// One record holds everything.
const RECORD_BYTES: u32 = 4096;

/// Encrypts with a key made for this one message; `None` if the browser's keys are invalid.
pub(super) fn encrypt(plain: &[u8], p256dh: &str, auth: &str) -> Option<Vec<u8>> {
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    let (receiver, auth) = (decode(p256dh)?, decode(auth)?);
    if auth.len() != 16 {
        return None;
    }
    let random = SystemRandom::new();
    let mut salt = [0; 16];
    random.fill(&mut salt).ok()?;
    let sender = EphemeralPrivateKey::generate(&ECDH_P256, &random).ok()?;
    let public = sender.compute_public_key().ok()?;
    let peer = UnparsedPublicKey::new(&ECDH_P256, &receiver);
    let keys =
        EncryptionKeys { receiver: &receiver, sender: public.as_ref(), auth: &auth, salt: &salt };
    agree_ephemeral(sender, &peer, |shared| keys.encrypt(shared, plain)).ok()?
}

struct EncryptionKeys<'a> {
    receiver: &'a [u8],
    sender: &'a [u8],
    auth: &'a [u8],
    salt: &'a [u8; 16],
}

impl EncryptionKeys<'_> {
    fn encrypt(&self, shared: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
        let info = [b"WebPush: info\0".as_slice(), self.receiver, self.sender].concat();
        let material: [u8; 32] = hkdf(self.auth, shared, &info)?;
        let key: [u8; 16] = hkdf(self.salt, &material, b"Content-Encoding: aes128gcm\0")?;
        let nonce: [u8; 12] = hkdf(self.salt, &material, b"Content-Encoding: nonce\0")?;
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).ok()?);
        let nonce = Nonce::assume_unique_for_key(nonce);
        // The last record, without padding.
        let mut record = [plain, &[2]].concat();
        key.seal_in_place_append_tag(nonce, Aad::empty(), &mut record).ok()?;
        let length = [u8::try_from(self.sender.len()).ok()?];
        let size = RECORD_BYTES.to_be_bytes();
        Some([self.salt.as_slice(), &size, &length, self.sender, &record].concat())
    }
}

fn hkdf<const N: usize>(salt: &[u8], material: &[u8], info: &[u8]) -> Option<[u8; N]> {
    let mut output = [0; N];
    let key = Salt::new(HKDF_SHA256, salt).extract(material);
    key.expand(&[info], Length(N)).ok()?.fill(&mut output).ok()?;
    Some(output)
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    const BROWSER: &str =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

    #[test]
    fn the_example_of_rfc_8291_is_encrypted_as_it_says() {
        let keys = EncryptionKeys {
            receiver: &bytes(BROWSER),
            sender: &bytes(
                "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
            ),
            auth: &bytes(AUTH),
            salt: &bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap(),
        };
        let shared = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
        let encrypted =
            keys.encrypt(&shared, b"When I grow up, I want to be a watermelon").unwrap();
        assert_eq!(
            URL_SAFE_NO_PAD.encode(encrypted),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmY\
             WAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSg\
             Sxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn the_same_message_is_never_encrypted_the_same_way() {
        let encrypted = || encrypt(b"hello", BROWSER, AUTH).unwrap();
        assert_ne!(encrypted(), encrypted());
        assert_eq!(encrypted().len(), 86 + 5 + 17);
    }

    #[test]
    fn the_largest_message_fits() {
        assert_eq!(encrypt(&vec![b'x'; MAX_PLAINTEXT_BYTES], BROWSER, AUTH).unwrap().len(), 4096);
    }

    #[test]
    fn keys_that_are_none_encrypt_nothing() {
        let off_the_curve = URL_SAFE_NO_PAD.encode([[4].as_slice(), &[7; 64]].concat());
        for (p256dh, auth) in [
            ("", AUTH),
            ("!!!", AUTH),
            (&BROWSER[..40], AUTH),
            (off_the_curve.as_str(), AUTH),
            (BROWSER, ""),
            (BROWSER, "AAAA"),
            (BROWSER, "not base64!"),
        ] {
            assert_eq!(encrypt(b"hello", p256dh, auth), None, "{p256dh} {auth}");
        }
    }
}
