//! SCRAM (RFC 5802 with SHA-512, RFC 7677 with SHA-256), as Kafka uses it: without channel binding, and with names and
//! passwords as they are, since brokers do not prepare them either.

use data_encoding::BASE64;
use ring::rand::SecureRandom;
use ring::{digest, hmac, pbkdf2};
use zeroize::Zeroizing;

use super::super::security::Login;

/// What brokers refuse to store less than, and RFC 7677 advises against.
const LEAST_ITERATIONS: u32 = 4096;
/// More would keep a thread busy for seconds; Kafka itself takes 16,384.
const MOST_ITERATIONS: u32 = 1_000_000;

/// Which hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Sha256,
    Sha512,
}

impl Hash {
    fn hmac(self) -> hmac::Algorithm {
        match self {
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha512 => hmac::HMAC_SHA512,
        }
    }

    fn digest(self) -> &'static digest::Algorithm {
        self.hmac().digest_algorithm()
    }

    fn pbkdf2(self) -> pbkdf2::Algorithm {
        match self {
            Self::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
            Self::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
        }
    }
}

/// The client's side of one login. No Debug: it holds the password.
pub(super) struct Scram {
    hash: Hash,
    password: Zeroizing<Vec<u8>>,
    /// The client's first message without its header.
    first: Zeroizing<String>,
    nonce: String,
}

/// What the broker has to prove that it knows the password as well.
pub(super) struct Proof {
    key: hmac::Key,
    message: Zeroizing<String>,
}

impl Scram {
    /// A login with a nonce of its own. Fails if there is no randomness, or the name is no text.
    pub(super) fn new(hash: Hash, login: &Login) -> Result<Self, String> {
        let mut nonce = [0; 24];
        ring::rand::SystemRandom::new()
            .fill(&mut nonce)
            .map_err(|_| "the system gives no random numbers".to_owned())?;
        Self::with_nonce(hash, login, &BASE64.encode(&nonce))
    }

    fn with_nonce(hash: Hash, login: &Login, nonce: &str) -> Result<Self, String> {
        let name = std::str::from_utf8(login.username.expose())
            .map_err(|_| "the user name is no UTF-8 text".to_owned())?;
        let name = Zeroizing::new(name.replace('=', "=3D").replace(',', "=2C"));
        Ok(Self {
            hash,
            password: Zeroizing::new(login.password.expose().to_vec()),
            first: Zeroizing::new(format!("n={},r={nonce}", *name)),
            nonce: nonce.to_owned(),
        })
    }

    /// The client's first message.
    pub(super) fn first(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new([b"n,,", self.first.as_bytes()].concat())
    }

    /// The client's last message, and what the broker's has to be. Takes milliseconds, by design: not for a thread of the
    /// runtime.
    pub(super) fn last(self, server_first: &[u8]) -> Result<(Zeroizing<Vec<u8>>, Proof), String> {
        let answer = std::str::from_utf8(server_first).map_err(|_| no_scram())?;
        let (nonce, salt, iterations) = challenge(answer).ok_or_else(no_scram)?;
        // A nonce that is not an extension of the client's belongs to another login.
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err("the broker's nonce is not for this login".to_owned());
        }
        if !(LEAST_ITERATIONS..=MOST_ITERATIONS).contains(&iterations) {
            return Err(format!(
                "the broker wants {iterations} iterations, and {LEAST_ITERATIONS} to {MOST_ITERATIONS} are taken"
            ));
        }
        let salt = BASE64.decode(salt.as_bytes()).map_err(|_| no_scram())?;
        let length = self.hash.digest().output_len();
        let mut salted = Zeroizing::new(vec![0; length]);
        let rounds = std::num::NonZeroU32::new(iterations).ok_or_else(no_scram)?;
        pbkdf2::derive(
            self.hash.pbkdf2(),
            rounds,
            &salt,
            &self.password,
            &mut salted,
        );
        let algorithm = self.hash.hmac();
        let salted = hmac::Key::new(algorithm, &salted);
        let client_key = hmac::sign(&salted, b"Client Key");
        let server_key = hmac::sign(&salted, b"Server Key");
        let stored = digest::digest(self.hash.digest(), client_key.as_ref());
        // "biws" is the header "n,," again.
        let without_proof = format!("c=biws,r={nonce}");
        let message = Zeroizing::new(format!("{},{answer},{without_proof}", *self.first));
        let signature = hmac::sign(
            &hmac::Key::new(algorithm, stored.as_ref()),
            message.as_bytes(),
        );
        let proof: Zeroizing<Vec<u8>> = Zeroizing::new(
            client_key
                .as_ref()
                .iter()
                .zip(signature.as_ref())
                .map(|(key, signature)| key ^ signature)
                .collect(),
        );
        let last = format!("{without_proof},p={}", BASE64.encode(&proof));
        let proof = Proof {
            key: hmac::Key::new(algorithm, server_key.as_ref()),
            message,
        };
        Ok((Zeroizing::new(last.into_bytes()), proof))
    }
}

impl Proof {
    /// Whether the broker knows the password as well.
    pub(super) fn check(&self, server_last: &[u8]) -> Result<(), String> {
        let seen = std::str::from_utf8(server_last)
            .ok()
            .and_then(|answer| answer.split(',').next()?.strip_prefix("v="))
            .and_then(|signature| BASE64.decode(signature.as_bytes()).ok());
        let same = seen
            .is_some_and(|seen| hmac::verify(&self.key, self.message.as_bytes(), &seen).is_ok());
        same.then_some(()).ok_or_else(|| {
            "the broker did not prove that it knows the password: is it the one that it claims to be?".to_owned()
        })
    }
}

/// Nonce, salt and iterations of the broker's first message, whose attributes have this order.
fn challenge(answer: &str) -> Option<(&str, &str, u32)> {
    let mut parts = answer.split(',');
    let nonce = parts.next()?.strip_prefix("r=")?;
    let salt = parts.next()?.strip_prefix("s=")?;
    let iterations = parts.next()?.strip_prefix("i=")?.parse().ok()?;
    Some((nonce, salt, iterations))
}

fn no_scram() -> String {
    "the broker's answer is none of SCRAM".to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::super::security::Secret;
    use super::*;

    fn scram(hash: Hash, name: &str, nonce: &str) -> Scram {
        let login = Login {
            username: Secret::new(name),
            password: Secret::new("pencil"),
        };
        Scram::with_nonce(hash, &login, nonce).unwrap()
    }

    /// The example of RFC 7677, section 3.
    #[test]
    fn the_example_of_the_rfc_comes_out() {
        let scram = scram(Hash::Sha256, "user", "rOprNGfwEbeRWgbNEkqO");
        assert_eq!(&scram.first()[..], b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let server_first = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let (last, proof) = scram.last(server_first).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&last),
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        assert_eq!(
            proof.check(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="),
            Ok(())
        );
        for wrong in [
            &b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5="[..],
            b"v=",
            b"",
            b"e=invalid-proof",
            &[0xff],
        ] {
            assert!(proof.check(wrong).unwrap_err().contains("did not prove"));
        }
    }

    #[test]
    fn what_no_broker_should_say_ends_the_login() {
        let says = |answer: &str| {
            let scram = scram(Hash::Sha512, "user", "abc");
            scram.last(answer.as_bytes()).err().unwrap_or_default()
        };
        assert_eq!(says("r=abcd,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"), "");
        assert!(says("r=abd,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096").contains("nonce"));
        assert!(says("r=abc,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096").contains("nonce"));
        assert!(says("r=abcd,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1").contains("1 iterations"));
        assert!(says("r=abcd,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4294967295").contains("iterations"));
        for garbage in [
            "",
            "r=abcd",
            "r=abcd,s=!,i=4096",
            "s=,r=,i=",
            "r=abcd,s=,i=x",
        ] {
            assert!(says(garbage).contains("none of SCRAM"), "{garbage}");
        }
    }

    #[test]
    fn names_are_escaped_and_nonces_differ() {
        let escaped = scram(Hash::Sha256, "a=b,c", "n").first().to_vec();
        assert_eq!(escaped, b"n,,n=a=3Db=2Cc,r=n");
        let login = Login {
            username: Secret::new("user"),
            password: Secret::new("pencil"),
        };
        let first = || Scram::new(Hash::Sha256, &login).unwrap().first().to_vec();
        assert_ne!(first(), first());
    }
}
