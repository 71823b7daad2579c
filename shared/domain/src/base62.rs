//! Random bytes as text people can double-click: digits and letters only.

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Renders bytes as a base-62 number of fixed width, most significant digit first.
///
/// The width is the smallest that fits every value of that many bytes, so 32 bytes are always 43
/// characters and no two inputs of one length share a text.
pub fn encode(bytes: &[u8]) -> String {
    let mut number = bytes.to_vec();
    let mut digits = vec![b'0'; width(bytes.len())];
    for digit in digits.iter_mut().rev() {
        let mut remainder = 0_u32;
        for byte in &mut number {
            let value = (remainder << 8) | u32::from(*byte);
            *byte = u8::try_from(value / 62).unwrap_or(u8::MAX);
            remainder = value % 62;
        }
        *digit = ALPHABET[remainder as usize];
    }
    digits.iter().map(|&digit| char::from(digit)).collect()
}

/// True when every character belongs to the alphabet.
pub fn is_base62(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Characters needed for `bytes` bytes: ceil(8 × bytes ÷ log2(62)).
const fn width(bytes: usize) -> usize {
    (bytes * 8 * 10_000).div_ceil(59_541)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_fit_the_largest_value() {
        assert_eq!(encode(&[0xff; 32]).len(), 43);
        assert_eq!(encode(&[0; 32]).len(), 43);
        assert_eq!(encode(&[0xff; 8]), "LygHa16AHYF");
        assert_eq!(encode(&[0, 61]), "00z");
        assert_eq!(encode(&[0, 62]), "010");
    }

    proptest::proptest! {
        #[test]
        fn order_is_kept(a: [u8; 16], b: [u8; 16]) {
            proptest::prop_assert_eq!(a.cmp(&b), encode(&a).cmp(&encode(&b)));
        }
    }
}
