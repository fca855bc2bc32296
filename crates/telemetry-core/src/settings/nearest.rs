//! Which known word somebody may have meant.

/// Longer words are no misspelt keys, and comparing them would cost time.
const WORD_CHARS_MAX: usize = 64;

/// The candidate nearest to `word`, if one is near enough to be meant.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(WORD_CHARS_MAX + 1).flat_map(char::to_lowercase).collect();
    if word.is_empty() || word.len() > WORD_CHARS_MAX {
        return None;
    }
    let distances = candidates.into_iter().map(|candidate| {
        let letters: Vec<char> = candidate.chars().collect();
        (distance(&word, &letters), letters.len(), candidate)
    });
    let near =
        distances.filter(|(distance, length, _)| *distance <= word.len().max(*length).div_ceil(3).min(3));
    near.min_by_key(|(distance, ..)| *distance).map(|(.., candidate)| candidate)
}

/// How many letters to add, remove, replace or swap with their neighbour.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_previous = vec![0; right.len() + 1];
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    for row in 1..=left.len() {
        let mut current = vec![row];
        for column in 1..=right.len() {
            let same = left[row - 1] == right[column - 1];
            let swapped = row > 1
                && column > 1
                && left[row - 1] == right[column - 2]
                && left[row - 2] == right[column - 1];
            let mut cost = previous[column - 1] + usize::from(!same);
            cost = cost.min(previous[column] + 1).min(current[column - 1] + 1);
            if swapped {
                cost = cost.min(before_previous[column - 2] + 1);
            }
            current.push(cost);
        }
        before_previous = std::mem::replace(&mut previous, current);
    }
    previous[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_word_is_suggested() {
        let check = |word: &str, expected: Option<&str>| {
            assert_eq!(nearest(word, ["default_level", "depth_max", "mem", "rules"]), expected, "{word}");
        };
        check("default_levl", Some("default_level"));
        check("Default_Level", Some("default_level"));
        check("dpeth_max", Some("depth_max"));
        check("rule", Some("rules"));
        check("men", Some("mem"));
        check("network", None);
        check("", None);
        check(&"x".repeat(100_000), None);
    }

    #[test]
    fn neighbours_swapped_count_once() {
        let letters = |word: &str| word.chars().collect::<Vec<_>>();
        assert_eq!(distance(&letters("tset"), &letters("test")), 1);
        assert_eq!(distance(&letters(""), &letters("test")), 4);
        assert_eq!(distance(&letters("kitten"), &letters("sitting")), 3);
    }
}
