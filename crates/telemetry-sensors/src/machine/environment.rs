//! The variables of the environment that the settings allow.

use std::collections::BTreeMap;

use telemetry_core::glob::matches;
use telemetry_core::settings;

/// The variables whose names match one of `patterns`.
pub(crate) fn allowed(patterns: &[String]) -> BTreeMap<String, String> {
    let allows = |name: &str| patterns.iter().any(|pattern| matches(pattern, name));
    let variables = settings::environment::all().into_iter().filter(|(name, _)| allows(name));
    variables.map(|(name, value)| (name, value.to_string_lossy().into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allowed_by_default() {
        assert!(allowed(&[]).is_empty());
        assert!(!allowed(&["*".to_owned()]).is_empty());
    }
}
