//! W3C trace context, carried in headers and message attributes; X-Ray's own header is understood.

use domain::hex;

use crate::Entropy;

/// Which trace something belongs to, and our own span in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    id: [u8; 16],
    span_id: [u8; 8],
    sampled: bool,
}

impl Trace {
    /// The start of a trace.
    pub fn new(entropy: &Entropy) -> Self {
        Self { id: entropy.bytes(), span_id: entropy.bytes(), sampled: false }
    }

    /// Continues the trace that the header names, or starts one.
    pub fn continue_or_start(header: Option<&str>, entropy: &Entropy) -> Self {
        header.and_then(|text| Self::parse(text, entropy)).unwrap_or_else(|| Self::new(entropy))
    }

    /// Continues the trace that a `traceparent` or `x-amzn-trace-id` header names, in a new span.
    pub fn parse(header: &str, entropy: &Entropy) -> Option<Self> {
        let (id, sampled) = parse_w3c(header).or_else(|| parse_xray(header))?;
        (id != [0; 16]).then(|| Self { id, span_id: entropy.bytes(), sampled })
    }

    /// The trace id, as logs have it.
    pub fn id(&self) -> String {
        hex(&self.id)
    }

    /// The header that hands the trace on.
    pub fn traceparent(&self) -> String {
        let flags = u8::from(self.sampled);
        format!("00-{}-{}-{flags:02x}", hex(&self.id), hex(&self.span_id))
    }
}

/// `00-<32 hex>-<16 hex>-<2 hex>`
fn parse_w3c(header: &str) -> Option<([u8; 16], bool)> {
    let mut parts = header.split('-');
    let version = parts.next().filter(|v| v.len() == 2 && *v != "ff")?;
    u8::from_str_radix(version, 16).ok()?;
    let id = unhex(parts.next()?)?;
    parts.next().filter(|span| span.len() == 16)?;
    let flags = u8::from_str_radix(parts.next().filter(|flags| flags.len() == 2)?, 16).ok()?;
    Some((id, flags & 1 == 1))
}

/// `Root=1-<8 hex>-<24 hex>;Parent=…;Sampled=1`
fn parse_xray(header: &str) -> Option<([u8; 16], bool)> {
    let root = header.split(';').find_map(|part| part.trim().strip_prefix("Root=1-"))?;
    let id = unhex(&root.replacen('-', "", 1))?;
    Some((id, header.contains("Sampled=1")))
}

fn unhex(text: &str) -> Option<[u8; 16]> {
    let well_formed = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let number = well_formed.then(|| u128::from_str_radix(text, 16).ok()).flatten()?;
    Some(number.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_headers_continue_their_trace_in_a_span_of_ours() {
        let entropy = Entropy::new(|bytes| bytes.fill(0xab));
        for header in [
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "Root=1-0af76519-16cd43dd8448eb211c80319c;Parent=b7ad6b7169203331;Sampled=1",
        ] {
            let trace = Trace::parse(header, &entropy).unwrap();
            assert_eq!(
                trace.traceparent(),
                "00-0af7651916cd43dd8448eb211c80319c-abababababababab-01"
            );
        }
    }

    #[test]
    fn what_is_not_a_trace_is_ignored() {
        let entropy = Entropy::new(|bytes| bytes.fill(1));
        for header in [
            "",
            "00-zz-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad-01",
            "Root=1-1",
        ] {
            assert_eq!(Trace::parse(header, &entropy), None, "{header}");
        }
    }
}
