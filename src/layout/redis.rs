//! Redis Cluster slots, and whether several key templates of one logical key share a slot.
//!
//! Source: the Redis Cluster specification, "Hash tags", and `keyHashSlot` in Redis' `src/cluster.h`.

use std::fmt;

use crc::{CRC_16_XMODEM, Crc};

static CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// The slot of a key, 0 to 16383: CRC-16/XMODEM of its hashed part modulo 16384.
pub fn redis_slot(key: &[u8]) -> u16 {
    CRC16.checksum(hashed_part(key)) % 16_384
}

/// The part of a key that is hashed: what lies between the first `{` and the first `}` after it, if that is at least
/// one byte, else the whole key. Later braces do not matter.
pub fn hashed_part(key: &[u8]) -> &[u8] {
    tag(key).unwrap_or(key)
}

fn tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|byte| *byte == b'{')?;
    let rest = &key[open + 1..];
    let close = rest.iter().position(|byte| *byte == b'}')?;
    (close > 0).then(|| &rest[..close])
}

/// What stands for the logical key in a template.
pub const PLACEHOLDER: &str = "%s";

/// What several templates say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotsVerdict {
    /// All templates of one key share a slot, whatever the key, but for empty keys and keys with braces.
    Same,
    /// All templates share a slot, and so do all keys: the tag does not hold the key.
    OneForAll {
        /// The tag.
        tag: String,
    },
    /// A template has no tag, so that the whole of it is hashed.
    Untagged {
        /// The template.
        template: String,
    },
    /// Two templates hash different parts.
    Mismatch {
        /// The first template.
        a: String,
        /// One that differs from it.
        b: String,
    },
    /// The templates hash the same part, and yet this key breaks that, by a brace or by being empty.
    KeyBreaks {
        /// The key.
        key: String,
        /// A template and its slot.
        a: (String, u16),
        /// Another one.
        b: (String, u16),
    },
}

/// Judges templates for every key, and for these sample keys one by one.
pub fn judge_slots(templates: &[String], keys: &[String]) -> SlotsVerdict {
    let Some((first, rest)) = templates.split_first() else {
        return SlotsVerdict::Same;
    };
    let part = |template: &str| hashed_part(template.as_bytes()).to_owned();
    let other = rest.iter().find(|template| part(template) != part(first));
    if let Some(other) = other {
        let mut both = [first, other].into_iter();
        let untagged = both.find(|template| tag(template.as_bytes()).is_none());
        return match untagged {
            Some(template) => SlotsVerdict::Untagged {
                template: template.clone(),
            },
            None => SlotsVerdict::Mismatch {
                a: first.clone(),
                b: other.clone(),
            },
        };
    }
    for key in keys {
        let slot = |template: &String| redis_slot(rendered(template, key).as_bytes());
        let a = slot(first);
        if let Some(other) = rest.iter().find(|template| slot(template) != a) {
            return SlotsVerdict::KeyBreaks {
                key: key.clone(),
                a: (first.clone(), a),
                b: (other.clone(), slot(other)),
            };
        }
    }
    match tag(first.as_bytes()).map(String::from_utf8_lossy) {
        Some(tag) if !tag.contains(PLACEHOLDER) => SlotsVerdict::OneForAll {
            tag: tag.into_owned(),
        },
        _ => SlotsVerdict::Same,
    }
}

/// The Redis key of a logical key.
pub fn rendered(template: &str, key: &str) -> String {
    template.replace(PLACEHOLDER, key)
}

/// A template and a slot: `market:{%s} in slot 12355`.
pub struct InSlot<'a>(pub &'a (String, u16));

impl fmt::Display for InSlot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (template, slot) = self.0;
        write!(f, "{template} in slot {slot}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    fn judge(templates: &[&str], keys: &[&str]) -> SlotsVerdict {
        judge_slots(&texts(templates), &texts(keys))
    }

    /// Answers of a real redis-server 7.0.15 to CLUSTER KEYSLOT.
    #[test]
    fn slots_are_those_of_a_real_server() {
        for (key, slot) in [
            ("", 0),
            ("123456789", 12739),
            ("BBCA", 12355),
            ("BBRI", 265),
            ("BMRI", 11576),
            ("TLKM", 8025),
            ("ASII", 12559),
            ("UNVR", 4476),
            ("ICBP", 10317),
            ("ANTM", 1430),
            ("GOTO", 13693),
            ("BBNI", 1815),
            ("{user1000}.following", 3443),
            ("{user1000}.followers", 3443),
            ("user1000", 3443),
            ("foo{}{bar}", 8363),
            ("foo{}", 5542),
            ("{}", 15257),
            ("{}bar", 6479),
            ("foo{{bar}}zap", 4015),
            ("{bar", 4015),
            ("foo{bar}{zap}", 5061),
            ("bar", 5061),
            ("zap", 6469),
            ("foo}{bar}", 5061),
            ("foo{bar", 15278),
            ("foo}bar{", 11073),
            ("}{", 12793),
            ("{a}", 15495),
            ("{{}}", 4092),
            ("{", 4092),
            ("日本語", 12788),
            ("{日本語}x", 12788),
            ("a{b}c{d}", 3300),
        ] {
            assert_eq!(redis_slot(key.as_bytes()), slot, "{key}");
        }
    }

    #[test]
    fn templates_that_hash_the_same_part_share_a_slot() {
        for templates in [
            &["market:{%s}", "notif:{%s}"][..],
            &["{%s}:a", "%s"],
            &["{user:%s}:a", "x:{user:%s}"],
            &["anything:%s"],
        ] {
            assert_eq!(judge(templates, &["BBCA", "a:b"]), SlotsVerdict::Same);
        }
    }

    #[test]
    fn a_template_without_a_tag_is_named() {
        let untagged = SlotsVerdict::Untagged {
            template: "notif:%s".to_owned(),
        };
        assert_eq!(judge(&["market:{%s}", "notif:%s"], &[]), untagged);
        assert_eq!(judge(&["notif:%s", "market:{%s}"], &[]), untagged);
        // An empty tag is none.
        assert!(matches!(
            judge(&["a:{}:%s", "b:{}:%s"], &[]),
            SlotsVerdict::Untagged { .. }
        ));
    }

    #[test]
    fn two_tags_that_differ_are_named() {
        assert_eq!(
            judge(&["a:{%s}", "b:{user:%s}"], &[]),
            SlotsVerdict::Mismatch {
                a: "a:{%s}".to_owned(),
                b: "b:{user:%s}".to_owned()
            }
        );
    }

    #[test]
    fn a_tag_without_the_key_puts_all_keys_into_one_slot() {
        assert_eq!(
            judge(&["{market}:%s", "{market}:n:%s"], &["BBCA"]),
            SlotsVerdict::OneForAll {
                tag: "market".to_owned()
            }
        );
    }

    #[test]
    fn a_sample_key_can_break_what_the_templates_promise() {
        for key in ["", "}x", "a{b"] {
            let verdict = judge(&["market:{%s}", "%s:{%s}"], &["BBCA", key]);
            assert!(
                matches!(&verdict, SlotsVerdict::KeyBreaks { key: named, .. } if named == key),
                "{key}: {verdict:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_slot_is_below_16384_and_a_tag_is_part_of_the_key(key: Vec<u8>) {
            prop_assert!(redis_slot(&key) < 16_384);
            let part = hashed_part(&key);
            prop_assert!(part == key || (!part.is_empty() && part.len() + 2 <= key.len()));
        }

        #[test]
        fn same_holds_for_every_key_without_braces(key in "[^{}]+") {
            let templates = texts(&["market:{%s}", "notif:{%s}:x", "%s"]);
            let slots: Vec<u16> = templates
                .iter()
                .map(|template| redis_slot(rendered(template, &key).as_bytes()))
                .collect();
            prop_assert!(slots.windows(2).all(|pair| pair[0] == pair[1]), "{slots:?}");
        }
    }
}
