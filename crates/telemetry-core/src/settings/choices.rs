//! Settings that are one word of a few.

use crate::level::Level;
use crate::words::words;

words! {
    /// Which parts of a model are recorded.
    What {
        /// The model as a whole.
        ParentOnly = 1 "parent_only",
        /// The model and its layers.
        ParentAndChildren = 2 "parent_and_children",
    }
}

words! {
    /// What is captured of a layer.
    ChildrenMode {
        /// Snapshots.
        Telemetry = 1 "telemetry",
        /// Shapes, types and sizes of tensors.
        TensorInspection = 2 "tensor_inspection",
        /// Both.
        TelemetryAndTensorInspection = 3 "telemetry_and_tensor_inspection",
        /// Ids, times and status.
        Lightweight = 4 "lightweight",
    }
}

impl ChildrenMode {
    /// The level of a layer.
    pub const fn level(self) -> Level {
        match self {
            Self::Telemetry => Level::Telemetry,
            Self::TensorInspection => Level::Data,
            Self::TelemetryAndTensorInspection => Level::Full,
            Self::Lightweight => Level::Lightweight,
        }
    }
}

words! {
    /// How the iterations of a loop are recorded.
    LoopMode {
        /// With ids, times, status, index, item and what they generated, and without snapshots.
        Lightweight = 1 "lightweight",
        /// Like any other task.
        Default = 2 "default",
    }
}

impl LoopMode {
    /// The level of an iteration.
    pub const fn level(self) -> Level {
        match self {
            Self::Lightweight => Level::Data,
            Self::Default => Level::Full,
        }
    }
}

words! {
    /// What happens to a record when its lane is full.
    OnFull {
        /// The caller waits for room, but never long.
        Wait = 1 "wait",
        /// Its values go, the rest stays.
        Degrade = 2 "degrade",
        /// It goes, and is counted.
        Drop = 3 "drop",
    }
}

words! {
    /// Who moves records from the journal into the store.
    DrainMode {
        /// A thread of this process.
        Thread = 1 "thread",
        /// Another process.
        External = 2 "external",
    }
}

words! {
    /// What a record survives once it is accepted.
    Durability {
        /// The end of the process, however it ends.
        Process = 1 "process",
        /// The loss of power too.
        Power = 2 "power",
    }
}

/// A type whose members are words in a settings file.
pub(super) trait Choice: Copy + 'static {
    /// All of them.
    const ALL: &'static [Self];

    /// The word for it.
    fn word(self) -> &'static str;
}

macro_rules! choices {
    ($($name:ident),+) => {
        $(impl Choice for $name {
            const ALL: &'static [Self] = $name::ALL;

            fn word(self) -> &'static str {
                self.as_str()
            }
        })+
    };
}

choices!(Level, What, ChildrenMode, LoopMode, OnFull, DrainMode, Durability);
