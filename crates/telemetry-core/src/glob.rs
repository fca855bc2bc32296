//! Globs on paths of activities and names of variables: `*` is any run of characters, `?` any one byte.

/// Whether the whole of `text` fits `pattern`.
///
/// On a mismatch the last star takes one byte more, so that the time is at most the product of the
/// lengths.
///
/// ```
/// use telemetry_core::glob::matches;
///
/// assert!(matches("model::*", "model::forward"));
/// assert!(!matches("model::*", "my::model::forward"));
/// ```
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut star) = ((0, 0), None);
    loop {
        let (in_pattern, in_text) = at;
        match (pattern.get(in_pattern), text.get(in_text)) {
            (Some(b'*'), _) => {
                star = Some(at);
                at = (in_pattern + 1, in_text);
            }
            (Some(wanted), Some(byte)) if *wanted == b'?' || wanted == byte => {
                at = (in_pattern + 1, in_text + 1);
            }
            (None, None) => return true,
            _ => match star {
                Some((in_pattern, in_text)) if in_text < text.len() => {
                    star = Some((in_pattern, in_text + 1));
                    at = (in_pattern + 1, in_text + 1);
                }
                _ => return false,
            },
        }
    }
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
            ("*_*_X", "A_B_C_X", true),
            ("*_*_X", "A_X", false),
            ("SLURM_*", "SLURM_", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("abc", "abcd", false),
            ("", "", true),
            ("", "A", false),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
        }
    }
}
