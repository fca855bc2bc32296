//! Lists whose items write themselves.

use super::append;
use super::budget::Budget;
use super::value::ValueEncoder;
use crate::value::tag;

/// A value is never less than its shortest mark: an item needs this room whatever it is.
const ITEM_BYTES_MIN: usize = 24;

impl ValueEncoder<'_> {
    /// A list, whose items `write` writes one by one, up to the limits.
    ///
    /// ```
    /// use telemetry_core::encoder::{Encoder, Limits};
    /// use telemetry_core::record::Items;
    ///
    /// let mut encoder = Encoder::new();
    /// encoder.reset(Limits { items_max: 2, ..Limits::default() });
    /// encoder.result(|value| value.list(&["a", "b", "c"], |item, value| value.text(item)));
    ///
    /// let mut json = Vec::new();
    /// Items::new(encoder.bytes()).for_each(|item| item.value.write_json(&mut json));
    /// assert_eq!(json, br#"["a","b",{"$cut":{"items":3}}]"#);
    /// ```
    pub fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&T, &mut ValueEncoder<'_>)) {
        self.bytes.truncate(self.start);
        let Some(depth_max) = self.budget.depth_max.checked_sub(1) else {
            return self.bytes.push(tag::TOO_DEEP);
        };
        self.bytes.push(tag::SEQUENCE);
        let closing = 1 + append::varint_length(append::total(Some(items.len())));
        let budget = Budget { end: self.budget.end.saturating_sub(closing), depth_max, ..self.budget };
        let mut written = 0;
        for item in items.iter().take(budget.items_max) {
            if self.bytes.len() + ITEM_BYTES_MIN > budget.end {
                break;
            }
            self.item(budget, |value| write(item, value));
            written += 1;
        }
        if written == items.len() {
            self.bytes.push(tag::END);
        } else {
            append::cut_end(self.bytes, Some(items.len()), "");
        }
    }

    fn item(&mut self, budget: Budget, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        let start = self.bytes.len();
        let (bytes, open, verdicts) = (&mut *self.bytes, &mut *self.open, &mut *self.verdicts);
        write(&mut ValueEncoder { bytes, open, verdicts, start, budget });
        if self.bytes.len() == start {
            self.bytes.push(tag::NULL);
        }
    }
}
