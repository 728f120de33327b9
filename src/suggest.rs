//! "Did you mean": the nearest of the allowed names.

/// How many single-character edits lead from one name to the other; two neighbours that
/// changed places count as one.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    let mut last_char = None;
    for (i, l) in left.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, r) in right.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&row, j) + usize::from(l != *r);
            let mut best = replaced.min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            let swapped = last_char == Some(*r) && j > 0 && right.get(j - 1) == Some(&l);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            next.push(best);
        }
        before = row;
        row = next;
        last_char = Some(l);
    }
    row.last().copied().unwrap_or(0)
}

/// The candidate that a user most likely meant, when one is near enough to be worth saying.
///
/// A name also counts as near when it is the whole last part of the candidate: somebody who
/// writes `max_count` means `rejected.max_count`.
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase().replace('-', "_");
    let score = |candidate: &str| {
        let last_part = candidate.rsplit('.').next().unwrap_or(candidate);
        let penalty = usize::from(last_part != candidate);
        distance(&given, candidate).min(distance(&given, last_part) + penalty)
    };
    let limit = (given.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|candidate| (score(candidate), candidate))
        .filter(|(score, _)| *score <= limit)
        .min_by_key(|(score, _)| *score)
        .map(|(_, candidate)| candidate)
}

/// Up to three of the names that a user may have meant, the likeliest first.
pub fn nearest_names<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let limit = (given.chars().count() / 2).clamp(2, 8);
    let given = given.to_lowercase();
    let mut scored: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            // The beginning or another part of a long name is near, too.
            let part = !given.is_empty() && lower.contains(&given);
            (if part { 1 } else { distance(&given, &lower) }, candidate)
        })
        .filter(|(score, _)| *score <= limit)
        .collect();
    scored.sort();
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// "there is no snapshot X", with what may have been meant.
pub fn unknown<'a>(what: &str, given: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let near: Vec<String> =
        nearest_names(given, names.iter().copied()).into_iter().map(|near| format!("{near:?}")).collect();
    match near.len() {
        _ if names.is_empty() => format!("there is no {what} {given:?}, nor any other"),
        0 => format!("there is no {what} {given:?}, nor one with a name like it"),
        1 => format!("there is no {what} {given:?}; the nearest is {}", near.concat()),
        _ => format!("there is no {what} {given:?}; the nearest are {}", near.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("max_btyes", "max_bytes"), 1);
    }

    #[test]
    fn near_names() {
        let keys = ["documents.on_invalid", "documents.max_bytes", "rejected.max_count", "cache.ttl"];
        assert_eq!(nearest("documents.on_invald", keys), Some("documents.on_invalid"));
        assert_eq!(nearest("documents.max-bytes", keys), Some("documents.max_bytes"));
        assert_eq!(nearest("max_count", keys), Some("rejected.max_count"));
        assert_eq!(nearest("on_invlaid", keys), Some("documents.on_invalid"));
        assert_eq!(nearest("something.else", keys), None);
        assert_eq!(nearest("", keys), None);
    }

    #[test]
    fn names_by_nearness() {
        let names = ["before", "beforehand", "auto-20261130T115500.123Z", "x"];
        assert_eq!(nearest_names("befor", names), ["before", "beforehand"]);
        assert_eq!(nearest_names("20261130", names), ["auto-20261130T115500.123Z"]);
        assert!(nearest_names("something", names).is_empty());
        assert_eq!(unknown("snapshot", "y", []), "there is no snapshot \"y\", nor any other");
        assert_eq!(unknown("snapshot", "befora", names), "there is no snapshot \"befora\"; the nearest is \"before\"");
    }
}
