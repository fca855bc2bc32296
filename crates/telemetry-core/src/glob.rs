//! Globs on activity paths: `*` is any run of characters, `?` any one.

/// Whether the whole of `text` fits `pattern`.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at_pattern, mut at_text) = (0, 0);
    // Where to go on after the last star: one character of text further.
    let mut retry = None;
    while at_text < text.len() {
        match pattern.get(at_pattern) {
            Some('*') => {
                retry = Some((at_pattern, at_text));
                at_pattern += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[at_text] => {
                at_pattern += 1;
                at_text += 1;
            }
            _ => {
                let Some((star, from)) = retry else { return false };
                retry = Some((star, from + 1));
                at_pattern = star + 1;
                at_text = from + 1;
            }
        }
    }
    pattern[at_pattern..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "model::forward", true),
            ("model::*", "model::forward", true),
            ("model::*", "my::model::forward", false),
            ("*::forward", "a::b::forward", true),
            ("*ab*ab", "abxabxab", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("abc", "abcd", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
        }
    }
}
