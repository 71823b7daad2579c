//! Random bytes, as an argument.

use std::fmt;
use std::sync::Arc;

/// Gives random bytes. Functions get the kernel's; tests get a seeded stream.
#[derive(Clone)]
pub struct Entropy(Arc<Fill>);

type Fill = dyn Fn(&mut [u8]) + Send + Sync;

impl Entropy {
    /// The kernel's generator.
    ///
    /// # Panics
    /// When the kernel has no randomness to give: no secret made then could be trusted.
    #[expect(clippy::expect_used, reason = "there is no safe way on without randomness")]
    pub fn system() -> Self {
        Self::new(|bytes| getrandom::fill(bytes).expect("the kernel gives random bytes"))
    }

    /// A source that fills buffers with what `fill` writes.
    pub fn new(fill: impl Fn(&mut [u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(fill))
    }

    /// `N` random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.0)(&mut bytes);
        bytes
    }

    /// A token that names one request: 32 hex digits.
    pub fn token(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.bytes()))
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy")
    }
}
