//! The country of an IP address, from a country database in the format of `MaxMind`, if there is one.
//!
//! `GEOIP_FILE` names it (in a layer: `/opt/…`). It is read whole when the environment starts, so it
//! costs as much memory as it has bytes. Absent: a file of our own, which its licence does not allow.

use std::net::IpAddr;

use boundary::{Misconfigured, Vars};
use maxminddb::{PathElement, Reader};

/// Countries by address.
#[derive(Debug, Default)]
pub(crate) struct GeoIp(Option<Reader<Vec<u8>>>);

impl GeoIp {
    /// Opens the configured file; without one, no country is known.
    pub(crate) fn open(vars: &Vars) -> Result<Self, Misconfigured> {
        const NAME: &str = "GEOIP_FILE";
        let Some(path) = vars.optional(NAME) else { return Ok(Self(None)) };
        let reader = Reader::open_readfile(path).map_err(|error| Misconfigured {
            name: NAME.to_owned(),
            problem: format!("must name a readable country file in MaxMind's format: {error}"),
        })?;
        Ok(Self(Some(reader)))
    }

    /// The country, as two capitals, if the file has one.
    pub(crate) fn country(&self, address: &str) -> Option<&str> {
        let path = [PathElement::Key("country"), PathElement::Key("iso_code")];
        let address: IpAddr = address.parse().ok()?;
        self.0.as_ref()?.lookup(address).ok()?.decode_path(&path).ok()?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in which the lower half of all addresses is in France.
    fn half_in_france() -> Vec<u8> {
        let text = |text: &str| {
            let length = u8::try_from(text.len()).unwrap();
            let control = if length < 29 { vec![0x40 | length] } else { vec![0x5d, length - 29] };
            [control, text.as_bytes().to_vec()].concat()
        };
        let mut file = vec![0, 0, 17, 0, 0, 1];
        file.extend([0; 16]);
        for part in [vec![0xe1], text("country"), vec![0xe1], text("iso_code"), text("FR")] {
            file.extend(part);
        }
        file.extend(b"\xab\xcd\xefMaxMind.com\xe9");
        for (name, value) in [
            ("node_count", vec![0xc1, 1]),
            ("record_size", vec![0xa1, 24]),
            ("ip_version", vec![0xa1, 4]),
            ("database_type", text("Country")),
            ("languages", vec![0x00, 0x04]),
            ("binary_format_major_version", vec![0xa1, 2]),
            ("binary_format_minor_version", vec![0xa0]),
            ("build_epoch", vec![0x01, 0x02, 1]),
            ("description", vec![0xe0]),
        ] {
            file.extend(text(name));
            file.extend(value);
        }
        file
    }

    #[test]
    fn a_file_tells_the_countries_it_knows() {
        let geo_ip = GeoIp(Some(Reader::from_source(half_in_france()).unwrap()));
        for (address, country) in [
            ("1.2.3.4", Some("FR")),
            ("127.255.255.255", Some("FR")),
            ("192.0.2.1", None),
            ("2001:db8::1", None),
            ("not an address", None),
        ] {
            assert_eq!(geo_ip.country(address), country, "{address}");
        }
        assert_eq!(GeoIp::default().country("1.2.3.4"), None);
    }

    #[test]
    fn a_file_that_is_not_there_is_said_before_the_first_visitor_comes() {
        let vars = Vars::from_iter([("GEOIP_FILE".to_owned(), "/nowhere.mmdb".to_owned())]);
        assert!(GeoIp::open(&vars).unwrap_err().to_string().contains("GEOIP_FILE"));
    }
}
