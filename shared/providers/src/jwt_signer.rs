//! Signs JSON Web Tokens with ring.
//!
//! By hand: `jsonwebtoken` 11 has no ring backend, and `aws_lc_rs` or `rust_crypto` would be a second crypto
//! stack in the zip.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;

pub(crate) enum JwtSigner {
    P256(Box<EcdsaKeyPair>),
    Rsa(Box<RsaKeyPair>),
}

impl JwtSigner {
    /// A P-256 key in PKCS#8, as PEM.
    pub(crate) fn p256_pem(pem: &str) -> Option<Self> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).ok()?;
        Self::p256(key.secret_pkcs8_der())
    }

    /// A P-256 key in PKCS#8.
    pub(crate) fn p256(der: &[u8]) -> Option<Self> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random);
        pair.ok().map(|pair| Self::P256(Box::new(pair)))
    }

    /// The two halves of a P-256 key.
    pub(crate) fn p256_raw(private: &[u8], public: &[u8]) -> Option<Self> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let random = SystemRandom::new();
        let pair =
            EcdsaKeyPair::from_private_key_and_public_key(algorithm, private, public, &random);
        pair.ok().map(|pair| Self::P256(Box::new(pair)))
    }

    /// An RSA key in PKCS#8, as PEM.
    pub(crate) fn rsa_pem(pem: &str) -> Option<Self> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).ok()?;
        let pair = RsaKeyPair::from_pkcs8(key.secret_pkcs8_der());
        pair.ok().map(|pair| Self::Rsa(Box::new(pair)))
    }

    /// A token with these claims; none if the machine has no randomness to sign with.
    pub(crate) fn sign(&self, key_id: Option<&str>, claims: &Value) -> Option<String> {
        let algorithm = match self {
            Self::P256(_) => "ES256",
            Self::Rsa(_) => "RS256",
        };
        let mut header = serde_json::json!({ "typ": "JWT", "alg": algorithm });
        if let Some(key_id) = key_id {
            header["kid"] = key_id.into();
        }
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encoded(&header), encoded(claims));
        let signature = self.signature(signed.as_bytes())?;
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn signature(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match self {
            Self::P256(pair) => Some(pair.sign(&random, message).ok()?.as_ref().to_vec()),
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).ok()?;
                Some(signature)
            }
        }
    }
}
