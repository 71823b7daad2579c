//! The MD5 digests that SDKs compare with their own: of a body and of message attributes.

use md5::{Digest, Md5};

use crate::message::{AttributeValue, MessageAttributes};

/// The digest of a message body, in hexadecimal.
pub(crate) fn of_body(body: &str) -> String {
    format!("{:x}", Md5::digest(body.as_bytes()))
}

/// The digest of message attributes in the order and encoding that AWS documents, or nothing when
/// there are none.
pub(crate) fn of_attributes(attributes: &MessageAttributes) -> Option<String> {
    if attributes.is_empty() {
        return None;
    }
    let mut digest = Md5::new();
    for (name, AttributeValue { data_type, string_value, binary_value }) in attributes {
        feed(&mut digest, name.as_bytes());
        feed(&mut digest, data_type.as_bytes());
        if let Some(bytes) = binary_value {
            digest.update([2]);
            feed(&mut digest, bytes);
        } else {
            digest.update([1]);
            feed(&mut digest, string_value.as_deref().unwrap_or_default().as_bytes());
        }
    }
    Some(format!("{:x}", digest.finalize()))
}

/// Each part goes in with its length before it, so that no two lists of parts look alike.
fn feed(digest: &mut Md5, part: &[u8]) {
    digest.update(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
    digest.update(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_a_body_is_its_md5() {
        assert_eq!(of_body("hello"), "5d41402abc4b2a76b9719d911017c592");
    }

    #[test]
    fn the_digest_of_attributes_is_the_one_that_aws_documents() {
        let number = AttributeValue {
            data_type: "Number".into(),
            ..AttributeValue::string("1493147359900")
        };
        let binary = AttributeValue {
            data_type: "Binary".into(),
            string_value: None,
            binary_value: Some(vec![0, 1]),
        };
        let text = AttributeValue::string("v");
        for (attributes, md5) in [
            (
                MessageAttributes::from([("timestamp".into(), number)]),
                "235c5c510d26fb653d073faed50ae77c",
            ),
            (
                MessageAttributes::from([("s".into(), text), ("b".into(), binary)]),
                "d9c9bbb2badd153651a7647433fb4581",
            ),
        ] {
            assert_eq!(of_attributes(&attributes).as_deref(), Some(md5));
        }
    }

    #[test]
    fn no_attributes_have_no_digest() {
        assert_eq!(of_attributes(&MessageAttributes::new()), None);
    }
}
