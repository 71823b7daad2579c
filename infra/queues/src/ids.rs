//! Message ids and receipt handles: random, or from a seed so that a failing run can be repeated.

use crate::error::Failure;

/// Where identifiers come from.
#[derive(Debug)]
pub(crate) enum IdSource {
    /// The operating system's randomness.
    Random,
    /// A generator that gives the same identifiers for the same seed.
    Seeded(fastrand::Rng),
}

impl IdSource {
    /// Text in the form of a version 4 UUID.
    pub(crate) fn uuid(&mut self) -> Result<String, Failure> {
        let bits = self.bits()?;
        let versioned = (bits & !(0xf << 76)) | (0x4 << 76);
        let hex = format!("{:032x}", (versioned & !(0x3 << 62)) | (0x2 << 62));
        let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
        Ok(parts.join("-"))
    }

    /// An unguessable text, which makes one receipt differ from the next.
    pub(crate) fn nonce(&mut self) -> Result<String, Failure> {
        Ok(format!("{:032x}", self.bits()?))
    }

    fn bits(&mut self) -> Result<u128, Failure> {
        match self {
            Self::Random => {
                let mut bytes = [0; 16];
                getrandom::fill(&mut bytes)
                    .map_err(|cause| Failure::new("draw a random identifier", cause.to_string()))?;
                Ok(u128::from_le_bytes(bytes))
            }
            Self::Seeded(rng) => Ok(rng.u128(..)),
        }
    }

    /// Identifiers that follow from the seed.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self::Seeded(fastrand::Rng::with_seed(seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_identifiers() {
        let draw = |seed| {
            let mut ids = IdSource::seeded(seed);
            (ids.uuid().unwrap(), ids.uuid().unwrap(), ids.nonce().unwrap())
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_ne!(draw(7).0, draw(7).1);
    }

    #[test]
    fn identifiers_look_like_version_four_uuids() {
        for ids in [&mut IdSource::Random, &mut IdSource::seeded(1)] {
            let id = ids.uuid().unwrap();
            assert_eq!(id.len(), 36);
            assert_eq!(&id[14..15], "4");
            assert!("89ab".contains(&id[19..20]), "{id}");
        }
    }
}
