//! The types that Kafka's messages are made of, in their flexible encoding (KIP-482): lengths are variable-length integers
//! one too large, so that 0 is null, and each structure ends with tagged fields.
//!
//! What is read comes from whoever listens at the address: a length says how much is there at most, never how much to
//! allocate.

/// What was read is not what the message should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kafka) struct Malformed;

type Read<T> = Result<T, Malformed>;

/// Reads a message.
#[derive(Clone, Debug)]
pub(in crate::kafka) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(in crate::kafka) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next bytes.
    pub(in crate::kafka) fn take(&mut self, length: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Read<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    pub(in crate::kafka) fn bool(&mut self) -> Read<bool> {
        Ok(self.fixed::<1>()? != [0])
    }

    pub(in crate::kafka) fn i8(&mut self) -> Read<i8> {
        self.fixed().map(i8::from_be_bytes)
    }

    pub(in crate::kafka) fn i16(&mut self) -> Read<i16> {
        self.fixed().map(i16::from_be_bytes)
    }

    pub(in crate::kafka) fn i32(&mut self) -> Read<i32> {
        self.fixed().map(i32::from_be_bytes)
    }

    pub(in crate::kafka) fn i64(&mut self) -> Read<i64> {
        self.fixed().map(i64::from_be_bytes)
    }

    /// An UNSIGNED_VARINT of at most 32 bits.
    pub(in crate::kafka) fn varint(&mut self) -> Read<u32> {
        let mut value = 0_u64;
        for shift in (0..35).step_by(7) {
            let [byte] = self.fixed()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| Malformed);
            }
        }
        Err(Malformed)
    }

    /// A length; `None` is null.
    fn length(&mut self) -> Read<Option<usize>> {
        let length = self.varint()?.checked_sub(1);
        length
            .map(|length| usize::try_from(length).map_err(|_| Malformed))
            .transpose()
    }

    /// `COMPACT_NULLABLE_BYTES`.
    pub(in crate::kafka) fn bytes(&mut self) -> Read<Option<&'a [u8]>> {
        self.length()?.map(|length| self.take(length)).transpose()
    }

    /// `COMPACT_NULLABLE_STRING`. What is no UTF-8 is replaced: nothing is decided by it.
    pub(in crate::kafka) fn nullable_string(&mut self) -> Read<Option<String>> {
        let bytes = self.bytes()?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    }

    /// `COMPACT_STRING`; null is read as empty.
    pub(in crate::kafka) fn string(&mut self) -> Read<String> {
        Ok(self.nullable_string()?.unwrap_or_default())
    }

    /// `STRING` of the encoding before: with a length of two bytes.
    pub(in crate::kafka) fn old_string(&mut self) -> Read<String> {
        let length = usize::try_from(self.i16()?).map_err(|_| Malformed)?;
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// `BYTES` of the encoding before: with a length of four bytes, -1 for null.
    pub(in crate::kafka) fn old_bytes(&mut self) -> Read<&'a [u8]> {
        let length = self.i32()?;
        if length == -1 {
            return Ok(&[]);
        }
        self.take(usize::try_from(length).map_err(|_| Malformed)?)
    }

    /// `COMPACT_ARRAY`; null is read as empty.
    pub(in crate::kafka) fn array<T>(
        &mut self,
        each: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        let length = self.length()?.unwrap_or(0);
        self.times(length, each)
    }

    /// `ARRAY` of the encoding before; null is read as empty.
    pub(in crate::kafka) fn old_array<T>(
        &mut self,
        each: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        let length = self.i32()?.max(0);
        self.times(usize::try_from(length).map_err(|_| Malformed)?, each)
    }

    fn times<T>(
        &mut self,
        length: usize,
        mut each: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        // Each takes a byte at least. The vector grows with what is there, not with what is promised.
        if length > self.0.len() {
            return Err(Malformed);
        }
        let mut read = Vec::new();
        for _ in 0..length {
            read.push(each(self)?);
        }
        Ok(read)
    }

    /// Passes over tagged fields.
    pub(in crate::kafka) fn tags(&mut self) -> Read<()> {
        self.each_tag(|_, _| Ok(()))
    }

    /// Shows each tagged field.
    pub(in crate::kafka) fn each_tag(
        &mut self,
        mut each: impl FnMut(u32, &mut Reader<'a>) -> Read<()>,
    ) -> Read<()> {
        for _ in 0..self.varint()? {
            let tag = self.varint()?;
            let length = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
            each(tag, &mut Reader(self.take(length)?))?;
        }
        Ok(())
    }
}

/// Writes a message.
#[derive(Default)]
pub(in crate::kafka) struct Writer(Vec<u8>);

impl Writer {
    pub(in crate::kafka) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(in crate::kafka) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(in crate::kafka) fn bool(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    pub(in crate::kafka) fn i16(&mut self, value: i16) {
        self.raw(&value.to_be_bytes());
    }

    pub(in crate::kafka) fn i32(&mut self, value: i32) {
        self.raw(&value.to_be_bytes());
    }

    fn varint(&mut self, mut value: usize) {
        loop {
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            if value == 0 {
                self.0.push(low & 0x7f);
                return;
            }
            self.0.push(low | 0x80);
        }
    }

    /// `COMPACT_BYTES`.
    pub(in crate::kafka) fn bytes(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() + 1);
        self.raw(bytes);
    }

    /// `COMPACT_STRING`.
    pub(in crate::kafka) fn string(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// `STRING` of the encoding before. Longer ones than 32,767 bytes are cut off: what is written this way are names of
    /// this program and of mechanisms.
    pub(in crate::kafka) fn old_string(&mut self, text: &str) {
        let length = i16::try_from(text.len()).unwrap_or(i16::MAX);
        self.i16(length);
        self.raw(&text.as_bytes()[..usize::from(length.unsigned_abs())]);
    }

    /// `COMPACT_ARRAY` of strings.
    pub(in crate::kafka) fn strings(&mut self, all: &[String]) {
        self.varint(all.len() + 1);
        for text in all {
            self.string(text);
        }
    }

    /// No tagged fields.
    pub(in crate::kafka) fn tags(&mut self) {
        self.varint(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::default();
        writer.string("grün");
        writer.strings(&["a".to_owned(), String::new()]);
        writer.old_string("old");
        writer.i32(-2);
        writer.bytes(&[7; 300]);
        writer.tags();
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.string(), Ok("grün".to_owned()));
        assert_eq!(
            reader.array(Reader::string),
            Ok(vec!["a".to_owned(), String::new()])
        );
        assert_eq!(reader.old_string(), Ok("old".to_owned()));
        assert_eq!(reader.i32(), Ok(-2));
        assert_eq!(reader.bytes(), Ok(Some(&[7; 300][..])));
        assert_eq!(reader.tags(), Ok(()));
        assert_eq!(reader.i8(), Err(Malformed));
    }

    #[test]
    fn a_length_is_no_promise() {
        // An array of 2^32 - 2 elements, a string of as many bytes, and tags without end.
        let huge = [0xff, 0xff, 0xff, 0xff, 0x0f, 0];
        assert_eq!(Reader::new(&huge).array(Reader::i8), Err(Malformed));
        assert_eq!(Reader::new(&huge).string(), Err(Malformed));
        assert_eq!(Reader::new(&huge).tags(), Err(Malformed));
        assert_eq!(Reader::new(&[0xff; 9]).varint(), Err(Malformed));
        assert_eq!(
            Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x1f]).varint(),
            Err(Malformed)
        );
        let old = [0x7f, 0xff, 0xff, 0xff, 0, 0];
        assert_eq!(Reader::new(&old).old_array(Reader::i8), Err(Malformed));
        assert_eq!(Reader::new(&old).old_bytes(), Err(Malformed));
    }

    #[test]
    fn null_is_nothing() {
        assert_eq!(Reader::new(&[0]).nullable_string(), Ok(None));
        assert_eq!(Reader::new(&[0]).string(), Ok(String::new()));
        assert_eq!(Reader::new(&[0]).array(Reader::i8), Ok(Vec::new()));
    }
}
