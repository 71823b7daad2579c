//! Trusted root certificates: Amazon's own where Amazon is at the other end, else the system's.
//!
//! Reading the system's roots (some 140) takes ten million instructions, more than all the rest of a
//! cold start. The endpoints of AWS chain to five, which Amazon Trust Services asks clients to know;
//! they are beside this file and valid until 2037.

use aws_smithy_http_client::tls::TrustStore;

use crate::Vars;

const AMAZON: &str = include_str!("amazon-roots.pem");

/// With any of these a server may have another certificate than Amazon's.
const ELSEWHERE: [&str; 7] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_DYNAMODB",
    "AWS_ENDPOINT_URL_SQS",
    "AWS_ENDPOINT_URL_SNS",
    "AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI",
];

/// Where the regions of the commercial and `GovCloud` partitions begin. China, the isolated regions and
/// the European sovereign cloud have certificates from elsewhere, and so may partitions to come.
const AMAZON_SIGNED: [&str; 9] = ["af-", "ap-", "ca-", "eu-", "il-", "me-", "mx-", "sa-", "us-"];

/// The roots for a function with these variables.
pub(super) fn trust_store(vars: &Vars) -> TrustStore {
    if amazon_suffices(vars) {
        TrustStore::empty().with_pem_certificate(AMAZON)
    } else {
        TrustStore::default()
    }
}

fn amazon_suffices(vars: &Vars) -> bool {
    let region = vars.optional("AWS_REGION").unwrap_or_default();
    let signed = AMAZON_SIGNED.iter().any(|start| region.starts_with(start));
    let isolated = region.contains("-iso");
    let elsewhere = ELSEWHERE.iter().any(|name| vars.optional(name).is_some());
    signed && !isolated && !elsewhere
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::RootCertStore;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;

    #[test]
    fn every_root_of_amazons_can_be_read() {
        let mut roots = RootCertStore::empty();
        for root in CertificateDer::pem_slice_iter(AMAZON.as_bytes()) {
            roots.add(root.unwrap()).unwrap();
        }
        assert_eq!(roots.len(), 5);
    }

    #[test]
    fn amazons_roots_suffice_only_where_amazon_is_at_the_other_end() {
        let with = |region: &str, name: &str| {
            let vars = [("AWS_REGION", region), (name, "something")];
            amazon_suffices(&vars.map(|(n, v)| (n.to_owned(), v.to_owned())).into_iter().collect())
        };
        for region in ["us-east-1", "eu-central-1", "us-gov-west-1", "mx-central-1"] {
            assert!(with(region, "STAGE"), "{region}");
        }
        for region in ["cn-north-1", "us-iso-east-1", "eu-isoe-west-1", "eusc-de-east-1", "new-1"] {
            assert!(!with(region, "STAGE"), "{region}");
        }
        for name in ELSEWHERE {
            assert!(!with("us-east-1", name), "{name}");
        }
    }
}
