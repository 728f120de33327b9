//! Text for people: tables, sizes, times.

use serde_json::Value;

use crate::daemon::{local_time, parse_time};

/// What stands for a value that is not known.
const UNKNOWN: &str = "-";

/// A text without what would act on a terminal or break a line: names are any bytes.
pub fn printable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut done, char| {
        if char.is_control() {
            done.extend(char.escape_default());
        } else {
            done.push(char);
        }
        done
    })
}

/// Columns side by side, each as wide as its widest cell.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|&name| name.to_owned()).collect();
    let lines: Vec<Vec<String>> =
        std::iter::once(&head).chain(rows).map(|row| row.iter().map(|cell| printable(cell)).collect()).collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Names and values below each other.
pub fn pairs(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.len() + 1).max().unwrap_or(0);
    let line = |(name, value): &(&str, String)| format!("{:width$}  {}\n", format!("{name}:"), printable(value));
    pairs.iter().map(line).collect()
}

/// A number of bytes in a unit that keeps it short.
pub fn bytes(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut name = "B";
    for unit in units {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        name = unit;
    }
    format!("{value:.1} {name}")
}

/// A length of time by its two largest units.
pub fn period(seconds: u64) -> String {
    let parts = [(seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let shown: Vec<String> = parts
        .iter()
        .skip_while(|(count, _)| *count == 0)
        .take(2)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    if shown.is_empty() { String::from("0 s") } else { shown.join(" ") }
}

/// The entries of a list, which may be the whole document or stand in it under a name.
pub fn list<'a>(document: &'a Value, name: &str) -> &'a [Value] {
    let list = document.as_array().or_else(|| document.get(name)?.as_array());
    list.map(Vec::as_slice).unwrap_or_default()
}

/// A field of an entry as text.
pub fn field(entry: &Value, name: &str) -> String {
    match entry.get(name) {
        None | Some(Value::Null) => UNKNOWN.to_owned(),
        Some(Value::String(text)) if text.is_empty() => UNKNOWN.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A field that is a time (RFC 3339, or seconds since 1970), in local time.
pub fn time_field(entry: &Value, name: &str) -> String {
    let seconds = match entry.get(name) {
        Some(Value::String(text)) => parse_time(text),
        Some(Value::Number(number)) => {
            number.as_i64().or_else(|| number.as_f64().map(|seconds| seconds.floor() as i64))
        }
        _ => None,
    };
    seconds.map_or_else(|| field(entry, name), local_time)
}

/// A field that is a number of bytes.
pub fn size_field(entry: &Value, name: &str) -> String {
    entry.get(name).and_then(Value::as_u64).map_or_else(|| field(entry, name), bytes)
}

/// A document for programs, indented.
pub fn json_text(document: &Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(document).unwrap_or_default();
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tables_are_aligned() {
        let rows = [vec!["1".into(), "ä\u{1b}[1m".into()], vec!["100".into(), String::new()]];
        assert_eq!(table(&["ID", "PATH"], &rows), "ID   PATH\n1    ä\\u{1b}[1m\n100\n");
        assert_eq!(pairs(&[("a", "1".into()), ("long", "2".into())]), "a:     1\nlong:  2\n");
    }

    #[test]
    fn sizes_and_periods() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(period(0), "0 s");
        assert_eq!(period(61), "1 min 1 s");
        assert_eq!(period(90_000), "1 d 1 h");
    }

    #[test]
    fn fields() {
        let entry = json!({"a": "", "b": 5, "c": "x", "t": "2026-11-30T12:00:00Z", "s": 0.5});
        assert_eq!([field(&entry, "a"), field(&entry, "b"), field(&entry, "zz")], ["-", "5", "-"]);
        assert_eq!(time_field(&entry, "t"), local_time(1_796_040_000));
        assert_eq!(time_field(&entry, "s"), local_time(0));
        assert_eq!(time_field(&entry, "c"), "x");
        assert_eq!(list(&json!({"locks": [1]}), "locks").len(), 1);
        assert!(list(&json!(5), "locks").is_empty());
    }
}
