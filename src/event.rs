//! Events: measurements and counts beside the tasks.

use std::fmt::Display;

use telemetry_core::event::{Category, EventKind, EventValue};
use telemetry_core::runtime::{Measured, record_event};

/// Records an event: a category, a name, a value; then, in any order, `unit`, `kind`, and labels.
///
/// The categories are `MEMORY`, `TRANSFER`, `CONNECTION`, `BACKEND`, `ERROR`, `PERFORMANCE`, `SYSTEM` and
/// `CUSTOM`. The kind is `counter` (the default: values add up), `gauge` (the last one counts) or
/// `histogram` (they are a distribution). Name, unit and kind belong to the code; a label's value is anything
/// that can be displayed. The event belongs to the task and the workflow that the code runs in.
///
/// ```
/// use telemetry::event;
///
/// let (bytes, seconds, device) = (1_048_576, 0.25, 3);
/// event!(TRANSFER, "tx_bytes", bytes, unit = "B", peer = "node-7");
/// event!(MEMORY, "used_bytes", 4096, kind = gauge, unit = "B", device = format_args!("gpu_{device}"));
/// event!(PERFORMANCE, "transfer_time", seconds, kind = histogram, unit = "s");
/// ```
///
/// Without a recorder this is one relaxed load; labels are not even written out. `capture.events` in the
/// settings says which names are recorded. [`Event`] does the same by hand.
#[macro_export]
macro_rules! event {
    ($category:ident, $name:expr, $value:expr $(, $($rest:tt)*)?) => {
        $crate::__event!(
            @options [$category, $name, $value] [counter] [::core::option::Option::None] [] [] $($($rest)*)?
        )
    };
}

/// Takes the options of an event apart: the kind, the unit, labels in the code, labels of the moment.
#[doc(hidden)]
#[macro_export]
macro_rules! __event {
    (@options $head:tt $kind:tt $unit:tt $fixed:tt $labels:tt kind = $new:ident $(, $($rest:tt)*)?) => {
        $crate::__event!(@options $head [$new] $unit $fixed $labels $($($rest)*)?)
    };
    (@options $head:tt $kind:tt $unit:tt $fixed:tt $labels:tt unit = $new:expr $(, $($rest:tt)*)?) => {
        $crate::__event!(@options $head $kind [::core::option::Option::Some($new)] $fixed $labels $($($rest)*)?)
    };
    (@options $head:tt $kind:tt $unit:tt [$($fixed:tt)*] $labels:tt $key:ident = $value:literal $(, $($rest:tt)*)?) => {
        $crate::__event!(@options $head $kind $unit [$($fixed)* ($key, $value)] $labels $($($rest)*)?)
    };
    (@options $head:tt $kind:tt $unit:tt $fixed:tt [$($labels:tt)*] $key:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::__event!(@options $head $kind $unit $fixed [$($labels)* ($key, $value)] $($($rest)*)?)
    };
    (@options [$category:ident, $name:expr, $value:expr] [$kind:ident] [$unit:expr]
        [$(($fixed_key:ident, $fixed:literal))*] [$(($key:ident, $label:expr))*]) => {{
        static SITE: $crate::__private::EventSite = $crate::__private::EventSite::new(
            $crate::__private::Measured {
                category: $crate::__event!(@category $category),
                name: $name,
                kind: $crate::__event!(@kind $kind),
                unit: $unit,
            },
            &[$((::core::stringify!($fixed_key), ::core::concat!($fixed))),*],
        );
        $crate::__event!(@record SITE, $value, $(($key, $label))*)
    }};
    (@record $site:ident, $value:expr,) => { $site.record($value) };
    (@record $site:ident, $value:expr, $(($key:ident, $label:expr))+) => {
        $site.record_with($value, &[$((::core::stringify!($key), &$label)),+])
    };
    (@category MEMORY) => { $crate::Category::Memory };
    (@category TRANSFER) => { $crate::Category::Transfer };
    (@category CONNECTION) => { $crate::Category::Connection };
    (@category BACKEND) => { $crate::Category::Backend };
    (@category ERROR) => { $crate::Category::Error };
    (@category PERFORMANCE) => { $crate::Category::Performance };
    (@category SYSTEM) => { $crate::Category::System };
    (@category CUSTOM) => { $crate::Category::Custom };
    (@category $other:ident) => {
        ::core::compile_error!(
            "the categories are MEMORY, TRANSFER, CONNECTION, BACKEND, ERROR, PERFORMANCE, SYSTEM and CUSTOM"
        )
    };
    (@kind counter) => { $crate::EventKind::Counter };
    (@kind gauge) => { $crate::EventKind::Gauge };
    (@kind histogram) => { $crate::EventKind::Histogram };
    (@kind $other:ident) => { ::core::compile_error!("the kinds are counter, gauge and histogram") };
}

/// An event by hand, where its name is not known to the code.
///
/// ```
/// use telemetry::{Category, Event, EventKind};
///
/// for (name, seconds) in [("load", 0.5), ("train", 12.0)] {
///     Event::new(Category::Performance, name)
///         .kind(EventKind::Histogram)
///         .unit("s")
///         .label("step", name)
///         .record(seconds);
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is recorded before `record`"]
pub struct Event<'a> {
    measured: Measured<'a>,
    labels: Vec<(&'a str, String)>,
}

impl<'a> Event<'a> {
    /// A counter of this category and name.
    pub fn new(category: Category, name: &'a str) -> Self {
        Self {
            measured: Measured { category, name, kind: EventKind::Counter, unit: None },
            labels: Vec::new(),
        }
    }

    /// Says how the values are to be read.
    pub fn kind(mut self, kind: EventKind) -> Self {
        self.measured.kind = kind;
        self
    }

    /// Says what the values count.
    pub fn unit(mut self, unit: &'a str) -> Self {
        self.measured.unit = Some(unit);
        self
    }

    /// Adds a label.
    pub fn label(mut self, key: &'a str, value: impl Display) -> Self {
        self.labels.push((key, value.to_string()));
        self
    }

    /// Records a value.
    pub fn record(&self, value: impl Into<EventValue>) {
        let labels: Vec<(&str, &dyn Display)> =
            self.labels.iter().map(|(key, value)| (*key, value as &dyn Display)).collect();
        record_event(&self.measured, &labels, value.into());
    }
}
