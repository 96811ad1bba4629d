//! Tokens for Amazon MSK: a request that nobody sends, signed with the AWS identity of this process.
//!
//! A broker of MSK takes the URL of a presigned `kafka-cluster:Connect` as the token of OAUTHBEARER, and checks its
//! signature (what AWS' signers for other languages send; the test's vectors are theirs).

/// The AWS region of an MSK cluster, as the names of its brokers tell:
/// `b-1.orders.a1b2c3.c2.kafka.eu-central-1.amazonaws.com:9098`, of a serverless one
/// `boot-a1b2c3.c1.kafka-serverless.eu-central-1.amazonaws.com:9098`. `None` behind a name of one's own.
pub fn region_of_msk<S: AsRef<str>>(servers: &[S]) -> Option<String> {
    servers.iter().find_map(|server| {
        let host = server.as_ref().rsplit_once(':')?.0;
        let host = host
            .strip_suffix(".cn")
            .unwrap_or(host)
            .strip_suffix(".amazonaws.com")?;
        let (before, region) = host.rsplit_once('.')?;
        let service = before.rsplit('.').next()?;
        matches!(service, "kafka" | "kafka-serverless").then(|| region.to_owned())
    })
}

#[cfg(feature = "aws-msk-iam")]
pub(super) use signed::fetch;

#[cfg(not(feature = "aws-msk-iam"))]
#[expect(
    clippy::unused_async,
    reason = "the one with the feature asks for credentials"
)]
pub(super) async fn fetch(_region: &str) -> Result<super::Token, String> {
    Err("this binary is built without the feature aws-msk-iam".to_owned())
}

#[cfg(feature = "aws-msk-iam")]
mod signed {
    use std::error::Error;
    use std::time::{Duration, SystemTime};

    use aws_config::{BehaviorVersion, Region};
    use aws_credential_types::Credentials;
    use aws_credential_types::provider::ProvideCredentials;
    use aws_sigv4::http_request::{
        SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign,
    };
    use aws_sigv4::sign::v4::SigningParams;
    use aws_smithy_http_client::Builder;
    use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
    use zeroize::Zeroizing;

    use super::super::Token;

    /// How long a token lasts: what AWS' own signers ask for.
    const LIFETIME: Duration = Duration::from_secs(900);

    /// Asks AWS for credentials as its tools do (environment, role of the service account, pod identity, instance) and signs.
    pub(in super::super) async fn fetch(region: &str) -> Result<Token, String> {
        let http = Builder::new()
            .tls_provider(Provider::Rustls(CryptoMode::Ring))
            .build_https();
        let config = aws_config::defaults(BehaviorVersion::latest())
            .http_client(http)
            .region(Region::new(region.to_owned()))
            .load()
            .await;
        let provider = config
            .credentials_provider()
            .ok_or("AWS' default chain of credentials is empty")?;
        let credentials = provider.provide_credentials().await.map_err(|error| {
            format!(
                "no AWS credentials: {}: does the pod's service account have a role?",
                words(&error)
            )
        })?;
        token(region, credentials, SystemTime::now())
    }

    /// An error with what lies beneath it; AWS' errors name places and reasons, no values.
    fn words(error: &dyn Error) -> String {
        let beneath = std::iter::successors(error.source(), |&error| error.source());
        beneath.fold(error.to_string(), |all, error| format!("{all}: {error}"))
    }

    pub(super) fn token(
        region: &str,
        credentials: Credentials,
        now: SystemTime,
    ) -> Result<Token, String> {
        let principal = credentials.access_key_id().to_owned();
        let left = credentials
            .expiry()
            .and_then(|end| end.duration_since(now).ok());
        let url = Zeroizing::new(presigned(region, credentials, now)?);
        let text = Zeroizing::new(data_encoding::BASE64URL_NOPAD.encode(url.as_bytes()));
        let lifetime = left.map_or(LIFETIME, |left| left.min(LIFETIME));
        let mut token = Token::new(&text, Some(lifetime), now)?;
        token.principal = principal;
        Ok(token)
    }

    fn presigned(
        region: &str,
        credentials: Credentials,
        now: SystemTime,
    ) -> Result<String, String> {
        let url = format!("https://kafka.{region}.amazonaws.com/?Action=kafka-cluster%3AConnect");
        let mut settings = SigningSettings::default();
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(LIFETIME);
        let identity = credentials.into();
        let params = SigningParams::builder()
            .identity(&identity)
            .region(region)
            .name("kafka-cluster")
            .time(now)
            .settings(settings)
            .build()
            .map_err(|error| error.to_string())?
            .into();
        let request =
            SignableRequest::new("GET", &url, std::iter::empty(), SignableBody::Bytes(&[]))
                .map_err(|error| error.to_string())?;
        let (instructions, _) = sign(request, &params)
            .map_err(|error| error.to_string())?
            .into_parts();
        let mut query = form_urlencoded::Serializer::new(url);
        let (_, added) = instructions.into_parts();
        for (name, value) in added {
            query.append_pair(name, &value);
        }
        // Not signed; MSK's logs show it.
        query.append_pair(
            "User-Agent",
            concat!("copartition-operator/", env!("CARGO_PKG_VERSION")),
        );
        Ok(query.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brokers_tell_the_region() {
        for (servers, region) in [
            (
                &["b-1.orders.a1b2c3.c2.kafka.eu-central-1.amazonaws.com:9098"][..],
                Some("eu-central-1"),
            ),
            (
                &["boot-a1.c1.kafka-serverless.us-east-1.amazonaws.com:9098"],
                Some("us-east-1"),
            ),
            (
                &["b-1.x.y.c3.kafka.cn-north-1.amazonaws.com.cn:9098"],
                Some("cn-north-1"),
            ),
            (
                &[
                    "kafka.internal:9098",
                    "b-2.o.a.c2.kafka.ap-south-1.amazonaws.com:9198",
                ],
                Some("ap-south-1"),
            ),
            (&["kafka.internal:9098"], None),
            (&["kafka.eu-central-1.example.com:9098"], None),
            (
                &["ec2-1-2-3-4.compute.eu-central-1.amazonaws.com:9098"],
                None,
            ),
            (&["amazonaws.com:9098", "x"], None),
            (&[], None),
        ] {
            assert_eq!(region_of_msk(servers).as_deref(), region, "{servers:?}");
        }
    }
}

#[cfg(all(test, feature = "aws-msk-iam"))]
mod vectors {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use aws_credential_types::Credentials;

    use super::signed::token;

    /// 2026-11-30 12:34:56 UTC.
    const NOW: u64 = 1_796_042_096;

    fn credentials(session: Option<&str>, ends: Option<SystemTime>) -> Credentials {
        Credentials::new(
            "AKIDEXAMPLE",
            "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            session.map(ToOwned::to_owned),
            ends,
            "vector",
        )
    }

    /// What aws-msk-iam-sasl-signer-python 1.0.2 made of these credentials at that time, but for the agent's name.
    #[test]
    fn a_token_is_the_one_of_the_signer_in_python() {
        let now = UNIX_EPOCH + Duration::from_secs(NOW);
        for (session, extra, signature) in [
            (
                None,
                "",
                "2bb291485796c023caea6187915235b7f0aef5417d64bbd47cee3edc198c166e",
            ),
            (
                Some("session/token+with=chars"),
                "&X-Amz-Security-Token=session%2Ftoken%2Bwith%3Dchars",
                "ab69567db04e4cced912e4debe6530777df963c140bc9d11566c016e2e4f7c27",
            ),
        ] {
            let token = token("eu-central-1", credentials(session, None), now).unwrap();
            assert_eq!(token.expires_ms(), i64::try_from(NOW + 900).unwrap() * 1000);
            assert_eq!(token.principal, "AKIDEXAMPLE");
            let url = data_encoding::BASE64URL_NOPAD
                .decode(token.value.expose())
                .unwrap();
            let wanted = format!(
                "https://kafka.eu-central-1.amazonaws.com/?Action=kafka-cluster%3AConnect&X-Amz-Algorithm=AWS4-HMAC-SHA256\
                 &X-Amz-Credential=AKIDEXAMPLE%2F20261130%2Feu-central-1%2Fkafka-cluster%2Faws4_request&X-Amz-Date=20261130T123456Z\
                 &X-Amz-Expires=900&X-Amz-SignedHeaders=host{extra}&X-Amz-Signature={signature}&User-Agent=copartition-operator%2F{}",
                env!("CARGO_PKG_VERSION")
            );
            let sorted = |url: &str| {
                let mut parts: Vec<String> = url.split('&').map(ToOwned::to_owned).collect();
                parts.sort();
                parts
            };
            assert_eq!(sorted(std::str::from_utf8(&url).unwrap()), sorted(&wanted));
        }
    }

    #[test]
    fn a_token_ends_with_its_credentials() {
        let now = UNIX_EPOCH + Duration::from_secs(NOW);
        let soon = now + Duration::from_secs(60);
        let ends = |end| {
            let token = token("eu-central-1", credentials(None, Some(end)), now);
            token.map(|token| token.expires)
        };
        assert_eq!(ends(soon).unwrap(), soon);
        assert_eq!(
            ends(now + Duration::from_secs(9000)).unwrap(),
            now + Duration::from_secs(900)
        );
    }
}
