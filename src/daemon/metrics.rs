//! The content of `.threadfs/metrics`: the Prometheus text format, version 0.0.4.

use std::fmt::Write as _;

use crate::fs::OperationStats;

/// One number with its name, help and type (`counter` or `gauge`).
pub type Sample = (&'static str, &'static str, &'static str, f64);

/// Writes operations, the work with snapshots and single numbers as one page. Of two numbers with one
/// name the first counts, because a page must not have a name twice. Numbers that differ in their
/// labels alone stand together.
pub fn render(operations: &[OperationStats], snapshots: &[OperationStats], samples: &[Sample]) -> String {
    let mut page = Page::default();
    page.family("threadfs_operations_total", "Requests of the kernel, by kind.", "counter");
    for operation in operations {
        page.operation("threadfs_operations_total", operation.name, float(operation.count));
    }
    page.family("threadfs_operation_errors_total", "Requests answered with an error, by kind.", "counter");
    for operation in operations {
        page.operation("threadfs_operation_errors_total", operation.name, float(operation.errors));
    }
    page.family("threadfs_operation_seconds", "Time from request to reply, by kind.", "histogram");
    for operation in operations {
        page.histogram("threadfs_operation_seconds", operation);
    }
    if !snapshots.is_empty() {
        page.family("threadfs_snapshot_seconds", "Time of the work with snapshots, by kind.", "histogram");
    }
    for work in snapshots {
        page.histogram("threadfs_snapshot_seconds", work);
    }
    let mut last = "";
    for (name, help, kind, value) in samples {
        let (family, labels) = name.split_at(name.find('{').unwrap_or(name.len()));
        if page.family(family, help, kind) || (family == last && !labels.is_empty()) {
            page.line(family, labels, *value);
            last = family;
        }
    }
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
    seen: Vec<String>,
}

impl Page {
    /// Begins the numbers of one name; false when it was there already.
    fn family(&mut self, name: &str, help: &str, kind: &str) -> bool {
        if self.seen.iter().any(|seen| seen == name) {
            return false;
        }
        self.seen.push(name.to_owned());
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        self.text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        true
    }

    fn line(&mut self, name: &str, labels: &str, value: f64) {
        // Writing to a String cannot fail.
        writeln!(self.text, "{name}{labels} {}", number(value)).unwrap_or_default();
    }

    fn operation(&mut self, name: &str, operation: &str, value: f64) {
        self.line(name, &format!("{{op=\"{operation}\"}}"), value);
    }

    fn histogram(&mut self, name: &str, operation: &OperationStats) {
        let op = operation.name;
        let bucket = format!("{name}_bucket");
        for (limit, count) in operation.buckets.iter().filter(|(limit, _)| limit.is_finite()) {
            self.line(&bucket, &format!("{{op=\"{op}\",le=\"{}\"}}", number(*limit)), float(*count));
        }
        // Counters are read one after the other while requests go on: the last bucket and the
        // count have to agree, and no bucket may be above them.
        let count = operation.buckets.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let count = float(count.max(operation.count));
        self.line(&bucket, &format!("{{op=\"{op}\",le=\"+Inf\"}}"), count);
        self.operation(&format!("{name}_sum"), op, operation.seconds_sum);
        self.operation(&format!("{name}_count"), op, count);
    }
}

/// A count as the format's number, which is a double.
fn float(count: u64) -> f64 {
    count as f64
}

/// A number as the format wants it.
fn number(value: f64) -> String {
    if value.is_nan() {
        String::from("NaN")
    } else if value.is_infinite() {
        String::from(if value > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page() {
        let operations = [OperationStats {
            name: "read",
            count: 3,
            errors: 1,
            seconds_sum: 0.25,
            buckets: vec![(0.0001, 1), (0.1, 2), (f64::INFINITY, 3)],
        }];
        let samples = [
            ("threadfs_locks", "Locks\nheld.", "gauge", 2.0),
            ("threadfs_locks", "Again.", "gauge", 9.0),
            ("threadfs_x_total{a=\"1\"}", "X.", "counter", 1.0),
            ("threadfs_x_total{a=\"2\"}", "", "counter", 2.0),
        ];
        let expected = "\
# HELP threadfs_operations_total Requests of the kernel, by kind.
# TYPE threadfs_operations_total counter
threadfs_operations_total{op=\"read\"} 3
# HELP threadfs_operation_errors_total Requests answered with an error, by kind.
# TYPE threadfs_operation_errors_total counter
threadfs_operation_errors_total{op=\"read\"} 1
# HELP threadfs_operation_seconds Time from request to reply, by kind.
# TYPE threadfs_operation_seconds histogram
threadfs_operation_seconds_bucket{op=\"read\",le=\"0.0001\"} 1
threadfs_operation_seconds_bucket{op=\"read\",le=\"0.1\"} 2
threadfs_operation_seconds_bucket{op=\"read\",le=\"+Inf\"} 3
threadfs_operation_seconds_sum{op=\"read\"} 0.25
threadfs_operation_seconds_count{op=\"read\"} 3
# HELP threadfs_locks Locks\\nheld.
# TYPE threadfs_locks gauge
threadfs_locks 2
# HELP threadfs_x_total X.
# TYPE threadfs_x_total counter
threadfs_x_total{a=\"1\"} 1
threadfs_x_total{a=\"2\"} 2
";
        assert_eq!(render(&operations, &[], &samples), expected);
    }

    #[test]
    fn special_numbers() {
        assert_eq!(number(f64::NAN), "NaN");
        assert_eq!(number(f64::INFINITY), "+Inf");
        assert_eq!(number(1e15), "1000000000000000");
    }
}
