//! YAML documents as plain values, within bounds: what a file takes in memory must not grow beyond what it is worth,
//! whatever its aliases repeat.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The longest input.
pub(super) const MOST_BYTES: usize = 4 << 20;
/// The most that the values of one document may take, aliases written out; a value counts for [`VALUE_COST`] and its text.
const MOST_MEMORY: usize = 64 << 20;
const VALUE_COST: usize = 64;
/// The most documents of one input.
const MOST_DOCUMENTS: usize = 10_000;
/// The most brackets that may be open at one place. The parser takes time with the square of it; a group has a handful.
const MOST_BRACKETS: usize = 1_000;

/// One document of an input.
#[derive(Debug)]
pub(super) struct Document {
    /// The line on which it begins, from 1 on.
    pub(super) line: usize,
    /// Its content, or what is wrong with it and where.
    pub(super) content: Result<Value, String>,
}

/// The documents of an input, without empty ones. As for kubectl, one that cannot be read stops no other: lines that
/// begin with `---` part them whatever stands between.
pub(super) fn documents(text: &str) -> Vec<Document> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parts: Vec<(usize, usize, usize)> = vec![(0, 0, 0)];
    let mut at = 0;
    for (line, content) in text.split_inclusive('\n').enumerate() {
        if content.trim_end() == "---" || content.starts_with("--- ") {
            parts.push((line, at, at));
        }
        at += content.len();
        if let Some(part) = parts.last_mut() {
            part.2 = at;
        }
    }
    if parts.len() > MOST_DOCUMENTS {
        return vec![Document {
            line: 1,
            content: Err(format!("more than {MOST_DOCUMENTS} documents; split it")),
        }];
    }
    parts
        .into_iter()
        .flat_map(|(line, from, to)| within(&text[from..to], line))
        .collect()
}

/// The most brackets that are open at one place, those in texts included.
fn brackets(text: &str) -> usize {
    let mut open = 0_usize;
    let mut most = 0;
    for letter in text.bytes() {
        match letter {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

/// The documents between two lines of `---`; `...` may part some more.
fn within(text: &str, offset: usize) -> Vec<Document> {
    // A marker, comments and directives alone are no document; the parser would complain about directives.
    let empty = |line: &str| {
        let line = line.trim();
        line.is_empty() || line == "---" || line.starts_with('#') || line.starts_with('%')
    };
    let first = text.lines().position(|line| !empty(line));
    let Some(first) = first else {
        return Vec::new();
    };
    if brackets(text) > MOST_BRACKETS {
        return vec![Document {
            line: offset + first + 1,
            content: Err(format!(
                "more than {MOST_BRACKETS} brackets are open at one place"
            )),
        }];
    }
    let mut found = Vec::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        let budget = Cell::new(MOST_MEMORY);
        let content = Bounded(&budget)
            .deserialize(document)
            .map_err(|error| moved(&error.to_string(), offset));
        let failed = content.is_err();
        if !matches!(content, Ok(Value::Null)) {
            found.push(Document {
                line: offset + first + 1,
                content,
            });
        }
        // Behind an error, the parser has nothing more to say.
        if failed {
            break;
        }
    }
    found
}

/// A message of the parser, with the line numbers of the whole input.
fn moved(message: &str, offset: usize) -> String {
    let mut parts = message.split("line ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(digits);
        text.push_str("line ");
        match number.parse::<usize>() {
            Ok(line) => text.push_str(&(line + offset).to_string()),
            Err(_) => text.push_str(number),
        }
        text.push_str(rest);
    }
    text
}

/// Takes what a value costs off the budget.
#[derive(Clone, Copy)]
struct Bounded<'a>(&'a Cell<usize>);

impl Bounded<'_> {
    fn pay<E: Error>(self, text: usize) -> Result<(), E> {
        let left = self.0.get().checked_sub(VALUE_COST + text);
        self.0.set(left.ok_or_else(|| {
            E::custom(format!(
                "the document takes more than {} MiB with its aliases written out; split it",
                MOST_MEMORY >> 20
            ))
        })?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON has as well (no tag)")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.pay(0)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.pay(0)?;
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.pay(0)?;
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.pay(0)?;
        let number = Number::from_f64(value);
        let number = number.ok_or_else(|| E::custom("a number that is not finite"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.pay(value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.pay(0)?;
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.pay(0)?;
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        self.pay(0)?;
        let mut all = Map::new();
        while let Some(key) = fields.next_key_seed(self)? {
            let Value::String(key) = key else {
                return Err(A::Error::custom(format!(
                    "the key {key} is no text; put it in quotes"
                )));
            };
            if all.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} is given twice")));
            }
            let value = fields.next_value_seed(self)?;
            all.insert(key, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn contents(text: &str) -> Vec<(usize, Result<Value, String>)> {
        let all = documents(text);
        all.into_iter().map(|one| (one.line, one.content)).collect()
    }

    #[test]
    fn documents_are_parted_as_kubectl_parts_them() {
        let text = "\u{feff}# first\na: 1\n---\n# nothing\n---\nb: 2\n--- \nc: {d: [true, 1.5, ~, x]}\n...\n---\n";
        let wanted = vec![
            (2, Ok(json!({"a": 1}))),
            (6, Ok(json!({"b": 2}))),
            (8, Ok(json!({"c": {"d": [true, 1.5, null, "x"]}}))),
        ];
        assert_eq!(contents(text), wanted);
        assert_eq!(contents(""), []);
        assert_eq!(
            contents("%YAML 1.2\n---\na: 1\n"),
            [(3, Ok(json!({"a": 1})))]
        );
        assert_eq!(contents(r#"{"a": 1}"#), [(1, Ok(json!({"a": 1})))]);
    }

    #[test]
    fn a_broken_document_says_where_and_stops_no_other() {
        let found = contents("a: 1\n---\nb: [1,\nc: 2\n---\nd: 3\n");
        assert_eq!((found[0].0, found[2].0), (1, 6));
        let said = found[1].1.as_ref().expect_err("it is broken");
        assert!(said.contains("line 4") || said.contains("line 3"), "{said}");
        assert_eq!(found[2].1, Ok(json!({"d": 3})));
    }

    #[test]
    fn what_json_does_not_have_is_refused() {
        for (text, wanted) in [
            ("a: 1\na: 2\n", "given twice"),
            ("1: 2\n", "is no text"),
            ("a: .nan\n", "not finite"),
            ("a: !secret x\n", "no tag"),
        ] {
            let found = contents(text);
            let said = found[0].1.as_ref().expect_err(text);
            assert!(said.contains(wanted), "{text}: {said}");
        }
    }

    #[test]
    fn aliases_are_written_out_within_bounds() {
        let small = "a: &a {b: 1}\nc: *a\n";
        assert_eq!(
            contents(small)[0].1,
            Ok(json!({"a": {"b": 1}, "c": {"b": 1}}))
        );
        let mut laughs = vec!["a0: &a0 [x, x, x, x, x, x, x, x, x, x]".to_owned()];
        for level in 1..12 {
            let inner = vec![format!("*a{}", level - 1); 10].join(", ");
            laughs.push(format!("a{level}: &a{level} [{inner}]"));
        }
        let one_text = format!(
            "a: &a {}\nb: [{}]\n",
            "x".repeat(1 << 20),
            "*a,".repeat(1_000)
        );
        for bomb in [laughs.join("\n"), one_text] {
            let found = contents(&bomb);
            assert!(found[0].1.is_err());
        }
    }

    #[test]
    fn deep_nesting_and_endless_documents_are_errors() {
        for text in [
            "[".repeat(1 << 20),
            "- ".repeat(10_000),
            "---\na: 1\n".repeat(10_001),
        ] {
            let found = contents(&text);
            assert_eq!(found.len(), 1);
            assert!(found[0].1.is_err());
        }
    }
}
