//! The variables of the environment that the settings allow.

use std::collections::BTreeMap;

use telemetry_core::settings;

/// The variables whose names match one of `patterns`.
pub(crate) fn allowed(patterns: &[String]) -> BTreeMap<String, String> {
    let allows = |name: &str| patterns.iter().any(|pattern| matches(pattern.as_bytes(), name.as_bytes()));
    let variables = settings::environment::all().into_iter().filter(|(name, _)| allows(name));
    variables.map(|(name, value)| (name, value.to_string_lossy().into_owned())).collect()
}

/// Whether `name` is `pattern`, in which `*` stands for anything and `?` for one byte.
///
/// On a mismatch the last star takes one byte more, so that the time is at most the product of the
/// lengths.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut star) = ((0, 0), None);
    loop {
        let (in_pattern, in_name) = at;
        match (pattern.get(in_pattern), name.get(in_name)) {
            (Some(b'*'), _) => {
                star = Some(at);
                at = (in_pattern + 1, in_name);
            }
            (Some(wanted), Some(byte)) if *wanted == b'?' || wanted == byte => {
                at = (in_pattern + 1, in_name + 1);
            }
            (None, None) => return true,
            _ => match star {
                Some((in_pattern, in_name)) if in_name < name.len() => {
                    star = Some((in_pattern, in_name + 1));
                    at = (in_pattern + 1, in_name + 1);
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_names() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        };
        check("PATH", "PATH", true);
        check("PATH", "PATHS", false);
        check("SLURM_*", "SLURM_", true);
        check("SLURM_*", "SLURM_JOB_ID", true);
        check("SLURM_*", "MY_SLURM_JOB", false);
        check("*_*_X", "A_B_C_X", true);
        check("*_*_X", "A_X", false);
        check("A?C", "ABC", true);
        check("*", "", true);
        check("", "", true);
        check("", "A", false);
        check("?", "", false);
    }

    #[test]
    fn nothing_is_allowed_by_default() {
        assert!(allowed(&[]).is_empty());
        assert!(!allowed(&["*".to_owned()]).is_empty());
    }
}
