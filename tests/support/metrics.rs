//! The requests that the kernel sent, from `.threadfs/metrics`.

use std::collections::BTreeMap;
use std::path::Path;

/// Requests by kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requests(pub BTreeMap<String, u64>);

impl Requests {
    /// What a mount has served so far.
    pub fn of(mountpoint: &Path) -> Requests {
        let page = std::fs::read_to_string(mountpoint.join(".threadfs/metrics")).unwrap();
        let mut requests = BTreeMap::new();
        for line in page.lines() {
            let Some(rest) = line.strip_prefix("threadfs_operations_total{op=\"") else { continue };
            let (name, count) = rest.split_once("\"} ").unwrap();
            requests.insert(name.to_string(), count.parse().unwrap());
        }
        assert!(requests.len() > 20, "{page}");
        Requests(requests)
    }

    /// What came after an earlier count, without what nobody waits for.
    pub fn since(&self, earlier: &Requests) -> Requests {
        let new = |name: &String, count: &u64| count - earlier.0.get(name).copied().unwrap_or(0);
        let counted = self.0.iter().map(|(name, count)| (name.clone(), new(name, count)));
        Requests(counted.filter(|(name, count)| *count > 0 && name != "release").collect())
    }

    /// All together.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Of one kind.
    pub fn count(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}
