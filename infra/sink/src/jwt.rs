//! Verifies signed tokens. By hand with ring, like the signer of `providers`: `jsonwebtoken` has no
//! ring backend.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::Value;

/// A token whose signature was verified.
pub(crate) struct VerifiedJwt {
    pub(crate) header: Value,
    pub(crate) claims: Value,
}

impl VerifiedJwt {
    /// A token signed with a P-256 key.
    pub(crate) fn es256(token: &str, public: &[u8]) -> Result<Self, &'static str> {
        Self::verified(token, "ES256", &ECDSA_P256_SHA256_FIXED, public)
    }

    /// A token signed with an RSA key.
    pub(crate) fn rs256(token: &str, public: &[u8]) -> Result<Self, &'static str> {
        Self::verified(token, "RS256", &RSA_PKCS1_2048_8192_SHA256, public)
    }

    fn verified(
        token: &str,
        name: &str,
        algorithm: &'static dyn VerificationAlgorithm,
        public: &[u8],
    ) -> Result<Self, &'static str> {
        let (signed, signature) = token.rsplit_once('.').ok_or("no token")?;
        let (header, claims) = signed.split_once('.').ok_or("no token")?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "no base64url")?;
        UnparsedPublicKey::new(algorithm, public)
            .verify(signed.as_bytes(), &signature)
            .map_err(|_| "a wrong signature")?;
        let token = Self { header: json(header)?, claims: json(claims)? };
        if token.header["alg"] != name {
            return Err("another algorithm");
        }
        Ok(token)
    }

    /// A claim that is a time.
    pub(crate) fn time(&self, claim: &str) -> Result<i64, &'static str> {
        self.claims[claim].as_i64().ok_or("a time is missing")
    }
}

fn json(part: &str) -> Result<Value, &'static str> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| "no base64url")?;
    serde_json::from_slice(&bytes).map_err(|_| "no JSON")
}
