//! Certificate authorities of the tests' own, and what they sign.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};

/// A certificate with its private key, both as PEM.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// Signs certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = named(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a CA"))
    }

    /// The certificate that those who trust it need, as PEM.
    pub(crate) fn certificate(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a subject (its common name) with these host names and addresses.
    pub(crate) fn issue(&self, name: &str, hosts: &[&str]) -> Identity {
        self.sign(&named(name, hosts))
    }

    /// As [`Self::issue`], of a time that is over.
    pub(crate) fn issue_expired(&self, name: &str, hosts: &[&str]) -> Identity {
        let mut params = named(name, hosts);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> Identity {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

fn named(name: &str, hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(hosts).expect("host names");
    params.distinguished_name.push(DnType::CommonName, name);
    params
}
