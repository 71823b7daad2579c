//! Base62 at a fixed width, in ASCII order, so that text sorts as the numbers do.

/// Eleven digits hold every 63-bit number; ten would not.
pub(super) const WIDTH: usize = 11;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Why a text is not a base62 number that fits 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Malformed {
    Digit,
    TooLarge,
}

/// Writes `value` with leading zeros.
pub(super) fn encode(mut value: u64) -> String {
    let mut text = String::with_capacity(WIDTH);
    let mut divisor = 62_u64.pow(10);
    while divisor > 0 {
        let digit = usize::try_from(value / divisor).unwrap_or(usize::MAX);
        // A 64-bit value divided by 62^10 is at most 21, so the lookup always finds a digit.
        text.push(ALPHABET.get(digit).copied().map_or('?', char::from));
        value %= divisor;
        divisor /= 62;
    }
    text
}

/// Reads what [`encode`] wrote. The caller has checked the width.
pub(super) fn decode(text: &str) -> Result<u64, Malformed> {
    text.bytes().try_fold(0_u64, |value, byte| {
        let digit = digit(byte).ok_or(Malformed::Digit)?;
        value
            .checked_mul(62)
            .and_then(|shifted| shifted.checked_add(digit))
            .ok_or(Malformed::TooLarge)
    })
}

fn digit(byte: u8) -> Option<u64> {
    let value = match byte {
        b'0'..=b'9' => byte - b'0',
        b'A'..=b'Z' => byte - b'A' + 10,
        b'a'..=b'z' => byte - b'a' + 36,
        _ => return None,
    };
    Some(u64::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_extremes_have_the_full_width() {
        assert_eq!(encode(0), "00000000000");
        assert_eq!(encode(61), "0000000000z");
        assert_eq!(encode(62), "00000000010");
        assert_eq!(encode(i64::MAX.cast_unsigned()), "AzL8n0Y58m7");
    }

    #[test]
    fn bytes_outside_the_alphabet_and_overflow_are_told_apart() {
        assert_eq!(decode("0000000000-"), Err(Malformed::Digit));
        assert_eq!(decode("000000000é"), Err(Malformed::Digit));
        assert_eq!(decode("zzzzzzzzzzz"), Err(Malformed::TooLarge));
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding(value: u64) {
            prop_assert_eq!(encode(value).len(), WIDTH);
            prop_assert_eq!(decode(&encode(value)), Ok(value));
        }

        #[test]
        fn text_sorts_as_the_numbers_do(a: u64, b: u64) {
            prop_assert_eq!(encode(a).cmp(&encode(b)), a.cmp(&b));
        }
    }
}
