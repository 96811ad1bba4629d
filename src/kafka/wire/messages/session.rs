//! What a connection begins with: which versions the broker speaks (KIP-35, KIP-511, KIP-584), and the login (KIP-43,
//! KIP-152, KIP-368).

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::super::super::metrics::Api;
use super::super::codec::{Malformed, Reader, Writer};
use super::{Code, Request, code};

/// Which versions of which APIs does the broker speak?
pub(in crate::kafka) struct ApiVersions;

/// What a broker speaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::kafka) struct Versions {
    /// The least and the highest version of each API, by its number.
    pub(in crate::kafka) apis: BTreeMap<i16, (i16, i16)>,
    /// The least and the highest level of each feature that the broker's program supports.
    pub(in crate::kafka) supported: BTreeMap<String, (i16, i16)>,
    /// The level of each feature that the cluster has switched on.
    pub(in crate::kafka) finalized: BTreeMap<String, i16>,
}

impl Request for ApiVersions {
    const KEY: i16 = 18;
    const API: Api = Api::ApiVersions;
    const VERSIONS: RangeInclusive<i16> = 3..=3;
    // So that a client can read it that does not know yet what the broker speaks.
    const ANSWER_TAGS: bool = false;
    type Answer = Result<Versions, Code>;

    fn write(&self, _version: i16, writer: &mut Writer) {
        writer.string(env!("CARGO_PKG_NAME"));
        writer.string(env!("CARGO_PKG_VERSION"));
        writer.tags();
    }

    fn read(_version: i16, reader: &mut Reader<'_>) -> Result<Self::Answer, Malformed> {
        let number = reader.i16()?;
        if number != code::NONE {
            // In the encoding of version 0 if this one is not spoken, so nothing else is read.
            return Ok(Err(Code::bare(number)));
        }
        let mut versions = Versions::default();
        let apis = reader.array(|api| {
            let read = (api.i16()?, (api.i16()?, api.i16()?));
            api.tags()?;
            Ok(read)
        })?;
        versions.apis.extend(apis);
        reader.i32()?;
        reader.each_tag(|tag, field| {
            match tag {
                0 => versions.supported.extend(features(field)?),
                2 => {
                    let levels = features(field)?.into_iter();
                    let levels = levels.map(|(name, (highest, _))| (name, highest));
                    versions.finalized.extend(levels);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(Ok(versions))
    }
}

/// A feature with two levels of it.
type Levels = (String, (i16, i16));

fn features(reader: &mut Reader<'_>) -> Result<Vec<Levels>, Malformed> {
    reader.array(|feature| {
        let read = (feature.string()?, (feature.i16()?, feature.i16()?));
        feature.tags()?;
        Ok(read)
    })
}

/// May this mechanism be used for the login?
pub(in crate::kafka) struct SaslHandshake(pub(in crate::kafka) &'static str);

impl Request for SaslHandshake {
    const KEY: i16 = 17;
    const API: Api = Api::SaslHandshake;
    const VERSIONS: RangeInclusive<i16> = 1..=1;
    const HEADER_TAGS: bool = false;
    const ANSWER_TAGS: bool = false;
    /// Whether it may, and which may.
    type Answer = (Code, Vec<String>);

    fn write(&self, _version: i16, writer: &mut Writer) {
        writer.old_string(self.0);
    }

    fn read(_version: i16, reader: &mut Reader<'_>) -> Result<Self::Answer, Malformed> {
        let code = Code::bare(reader.i16()?);
        Ok((code, reader.old_array(Reader::old_string)?))
    }
}

/// One message of the login.
pub(in crate::kafka) struct SaslAuthenticate<'a>(pub(in crate::kafka) &'a [u8]);

/// The broker's answer to it.
pub(in crate::kafka) struct Authenticated {
    pub(in crate::kafka) code: Code,
    pub(in crate::kafka) bytes: Vec<u8>,
    /// After this time the broker wants a new login; `None`: never.
    pub(in crate::kafka) lifetime: Option<Duration>,
}

impl Request for SaslAuthenticate<'_> {
    const KEY: i16 = 36;
    const API: Api = Api::SaslAuthenticate;
    const VERSIONS: RangeInclusive<i16> = 2..=2;
    type Answer = Authenticated;

    fn write(&self, _version: i16, writer: &mut Writer) {
        writer.bytes(self.0);
        writer.tags();
    }

    fn read(_version: i16, reader: &mut Reader<'_>) -> Result<Self::Answer, Malformed> {
        let code = Code::read(reader)?;
        let bytes = reader.bytes()?.unwrap_or_default().to_vec();
        let lifetime = u64::try_from(reader.i64()?).unwrap_or(0);
        reader.tags()?;
        Ok(Authenticated {
            code,
            bytes,
            lifetime: (lifetime > 0).then(|| Duration::from_millis(lifetime)),
        })
    }
}
