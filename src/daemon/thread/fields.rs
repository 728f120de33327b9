//! What is different between two JSON documents, field by field.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

/// Larger documents are not taken apart.
const LARGEST: u64 = 16 << 20;

/// A field that is different; None where it is not there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Field {
    /// Where it is, as a JSON pointer (RFC 6901); empty for the whole document.
    pub pointer: String,
    /// Its value before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// Its value after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// The fields that differ between two files; None when one cannot be read or is no JSON.
pub fn of_files(before: &Path, after: &Path) -> Option<Vec<Field>> {
    let read = |path: &Path| -> Option<Value> {
        let small = std::fs::metadata(path).ok()?.len() <= LARGEST;
        small.then(|| serde_json::from_slice(&std::fs::read(path).ok()?).ok())?
    };
    let mut fields = Vec::new();
    compare("", &read(before)?, &read(after)?, &mut fields);
    Some(fields)
}

fn compare(pointer: &str, before: &Value, after: &Value, fields: &mut Vec<Field>) {
    let below = |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
    let only = |pointer, before: Option<&Value>, after: Option<&Value>| Field {
        pointer,
        before: before.cloned(),
        after: after.cloned(),
    };
    match (before, after) {
        _ if before == after => {}
        (Value::Object(one), Value::Object(other)) => {
            for (name, value) in one {
                match other.get(name) {
                    Some(new) => compare(&below(name), value, new, fields),
                    None => fields.push(only(below(name), Some(value), None)),
                }
            }
            let new = other.iter().filter(|(name, _)| !one.contains_key(*name));
            fields.extend(new.map(|(name, value)| only(below(name), None, Some(value))));
        }
        (Value::Array(one), Value::Array(other)) => {
            for index in 0..one.len().max(other.len()) {
                let at = below(&index.to_string());
                match (one.get(index), other.get(index)) {
                    (Some(old), Some(new)) => compare(&at, old, new, fields),
                    (old, new) => fields.push(only(at, old, new)),
                }
            }
        }
        _ => fields.push(only(pointer.to_string(), Some(before), Some(after))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pointers() {
        let before = json!({"a": {"b/c": 1, "d": [1, 2]}, "gone": null, "same": [1]});
        let after = json!({"a": {"b/c": 2, "d": [1]}, "new": "x", "same": [1]});
        let mut fields = Vec::new();
        compare("", &before, &after, &mut fields);
        let told: Vec<String> =
            fields.iter().map(|field| format!("{} {:?} {:?}", field.pointer, field.before, field.after)).collect();
        assert_eq!(
            told,
            [
                "/a/b~1c Some(Number(1)) Some(Number(2))",
                "/a/d/1 Some(Number(2)) None",
                "/gone Some(Null) None",
                "/new None Some(String(\"x\"))",
            ]
        );
        let mut fields = Vec::new();
        compare("", &json!([]), &json!({}), &mut fields);
        assert_eq!(fields.len(), 1);
    }
}
