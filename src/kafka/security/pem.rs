//! Certificates and keys as PEM text (RFC 7468), checked before the client library sees them: it says of a bad one only
//! that it is bad.

use zeroize::Zeroizing;

/// The most blocks of one text; the bundles of whole systems have about 150 certificates.
const MOST_BLOCKS: usize = 1_000;

/// The certificates of a text, and nothing else of it; `what` names the text for the message.
pub(super) fn certificates(what: &str, text: &[u8]) -> Result<String, String> {
    let blocks = blocks(what, text)?;
    for (number, block) in (1..).zip(&blocks) {
        let tag = block.tag();
        if !matches!(
            tag,
            "CERTIFICATE" | "X509 CERTIFICATE" | "TRUSTED CERTIFICATE"
        ) {
            return Err(format!(
                "part {number} of {what} is a {tag}, and only certificates belong there"
            ));
        }
        if !is_der_sequence(block.contents()) {
            return Err(format!(
                "part {number} of {what} says that it is a {tag}, and its content is none"
            ));
        }
    }
    Ok(pem::encode_many(&blocks))
}

/// The one private key of a text, and nothing else of it.
pub(super) fn private_key(what: &str, text: &[u8]) -> Result<Zeroizing<String>, String> {
    // Keys of elliptic curves are often written with the curve before them.
    let mut keys = blocks(what, text)?;
    keys.retain(|block| block.tag() != "EC PARAMETERS");
    let [key] = &keys[..] else {
        return Err(format!(
            "{what} has {} parts, and one private key belongs there",
            keys.len()
        ));
    };
    let tag = key.tag();
    let encrypted = tag == "ENCRYPTED PRIVATE KEY"
        || key
            .headers()
            .get("Proc-Type")
            .is_some_and(|kind| kind.contains("ENCRYPTED"));
    if encrypted {
        return Err(format!(
            "{what} is encrypted, and there is no passphrase for it: store the key without encryption \
             (openssl pkey -in key.pem -out plain.pem)"
        ));
    }
    if !tag.ends_with("PRIVATE KEY") || tag.starts_with("OPENSSH") {
        return Err(format!(
            "{what} holds a {tag}, and a private key belongs there (PKCS #8, PKCS #1 or SEC 1)"
        ));
    }
    if !is_der_sequence(key.contents()) {
        return Err(format!(
            "{what} says that it is a {tag}, and its content is none"
        ));
    }
    Ok(Zeroizing::new(pem::encode(key)))
}

fn blocks(what: &str, text: &[u8]) -> Result<Vec<pem::Pem>, String> {
    // Its own words would repeat parts of the text.
    let blocks = pem::parse_many(text)
        .map_err(|_| format!("{what} is no PEM text: a part of it is cut off or garbled"))?;
    match blocks.len() {
        0 => Err(format!(
            "{what} is no PEM text: it has no part between BEGIN and END lines"
        )),
        1..=MOST_BLOCKS => Ok(blocks),
        many => Err(format!("{what} has {many} parts, more than {MOST_BLOCKS}")),
    }
}

/// All that is meant here is a DER sequence, whatever is in it.
fn is_der_sequence(content: &[u8]) -> bool {
    content.len() > 2 && content[0] == 0x30
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(tag: &str, content: &[u8]) -> String {
        pem::encode(&pem::Pem::new(tag, content))
    }

    const DER: [u8; 5] = [0x30, 3, 2, 1, 7];

    #[test]
    fn certificates_are_taken_out_of_their_text() {
        let one = block("CERTIFICATE", &DER);
        let text = format!("# Größe\nsubject=CN\n{one}\nmore\r\n{one}");
        let taken = certificates("the CA", text.as_bytes()).unwrap();
        assert_eq!(taken.matches("BEGIN CERTIFICATE").count(), 2);
        assert!(!taken.contains("subject"));
    }

    #[test]
    fn what_is_no_certificate_is_named() {
        let says = |text: &str| certificates("the CA", text.as_bytes()).unwrap_err();
        assert!(says("").contains("no part between BEGIN and END"));
        assert!(says("MIIB").contains("the CA is no PEM text"));
        let good = block("CERTIFICATE", &DER);
        let cut = &good[..good.len() - 10];
        assert!(says(cut).contains("no PEM text"), "{}", says(cut));
        let mixed = format!("{good}{}", block("PRIVATE KEY", &DER));
        assert!(says(&mixed).contains("part 2 of the CA is a PRIVATE KEY"));
        let hollow = block("CERTIFICATE", b"hello");
        assert!(says(&hollow).contains("part 1 of the CA says that it is a CERTIFICATE"));
    }

    #[test]
    fn one_private_key_without_encryption_is_taken() {
        for tag in ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"] {
            let text = format!("{}{}", block("EC PARAMETERS", &DER), block(tag, &DER));
            assert!(
                private_key("the key", text.as_bytes())
                    .unwrap()
                    .contains(tag)
            );
        }
        let says = |text: &str| private_key("the key", text.as_bytes()).unwrap_err();
        assert!(says(&block("ENCRYPTED PRIVATE KEY", &DER)).contains("without encryption"));
        let mut old = pem::Pem::new("RSA PRIVATE KEY", DER);
        old.headers_mut().add("Proc-Type", "4,ENCRYPTED").unwrap();
        assert!(says(&pem::encode(&old)).contains("without encryption"));
        assert!(says(&block("CERTIFICATE", &DER)).contains("holds a CERTIFICATE"));
        assert!(says(&block("OPENSSH PRIVATE KEY", &DER)).contains("PKCS #8"));
        let two = block("PRIVATE KEY", &DER).repeat(2);
        assert!(says(&two).contains("has 2 parts"));
    }

    #[test]
    fn no_message_repeats_the_text() {
        let garbled = "-----BEGIN PRIVATE KEY-----\ngeheim!\n-----END PRIVATE KEY-----\n";
        let words = private_key("the key", garbled.as_bytes()).unwrap_err();
        assert!(!words.contains("geheim"), "{words}");
    }
}
