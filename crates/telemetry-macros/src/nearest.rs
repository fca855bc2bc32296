//! The known name that a mistyped one most likely meant.

/// The nearest of the candidates, if it is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().div_ceil(3).min(name.chars().count() / 2);
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The end of a message: `; did you mean …?` if a candidate is near, else the list of them.
pub(crate) fn hint(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if candidates.is_empty() => String::new(),
        None => format!("; known are {}", listed(candidates)),
    }
}

/// The names in backticks, with commas between them.
pub(crate) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// How many letters must be put in, taken out, changed or swapped with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for row in 1..=left.len() {
        let mut current = vec![row];
        for column in 1..=right.len() {
            let change = usize::from(left[row - 1] != right[column - 1]);
            let mut best = (last[column] + 1).min(current[column - 1] + 1).min(last[column - 1] + change);
            let swapped = row > 1
                && column > 1
                && left[row - 1] == right[column - 2]
                && left[row - 2] == right[column - 1];
            if swapped {
                best = best.min(before_last[column - 2] + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_name() {
        let known = ["name", "output", "outputs", "skip", "skip_all"];
        assert_eq!(nearest("nmae", known), Some("name"));
        assert_eq!(nearest("ouput", known), Some("output"));
        assert_eq!(nearest("skipall", known), Some("skip_all"));
        assert_eq!(nearest("campaign", known), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("dat", ["data"]), Some("data"));
    }

    #[test]
    fn distances_count_single_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("level", "leevl"), 1);
        assert_eq!(distance("däta", "data"), 1);
    }

    #[test]
    fn a_hint_without_a_near_name_lists_all() {
        assert_eq!(hint("zzz", &["a", "b"]), "; known are `a`, `b`");
        assert_eq!(hint("zzz", &[]), "");
    }
}
