//! The metrics that the settings list.

use telemetry_core::settings::GPU_METRICS;

/// The metrics to read of each card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Metrics {
    listed: u32,
}

impl Metrics {
    /// None if the list is empty. Names that mean nothing are a warning: the settings file refuses them,
    /// but settings can be made by hand.
    pub(crate) fn new(names: &[String], warnings: &mut Vec<String>) -> Option<Self> {
        let mut metrics = Self::default();
        for name in names {
            match GPU_METRICS.iter().position(|metric| metric == name) {
                Some(index) => metrics.listed |= 1 << index,
                None => {
                    warnings.push(format!("no GPU metric `{name}`; there are {}", GPU_METRICS.join(", ")));
                }
            }
        }
        (metrics.listed != 0).then_some(metrics)
    }

    pub(crate) fn has(self, name: &str) -> bool {
        GPU_METRICS
            .iter()
            .position(|metric| *metric == name)
            .is_some_and(|index| self.listed & 1 << index != 0)
    }

    /// `reading` if `name` is listed; it is not even taken otherwise.
    pub(crate) fn ask<T>(self, name: &str, reading: impl FnOnce() -> Option<T>) -> Option<T> {
        self.has(name).then(reading).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_asked() {
        let mut warnings = Vec::new();
        let metrics = Metrics::new(&["used".to_owned(), "usde".to_owned()], &mut warnings).unwrap();
        assert_eq!((metrics.ask("used", || Some(1)), metrics.ask("total", || Some(1))), (Some(1), None));
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("`usde`") && warnings[0].contains("temperature"), "{warnings:?}");
        assert_eq!(Metrics::new(&[], &mut warnings), None);
    }
}
