//! How a model is built: its modules, their types, attributes and parameters.

use serde::Serialize;
use serde_json::{Map, Value};

/// A module that says how it is built. Modules of `candle_nn` and structs with `#[model]` have it; for a module of
/// one's own it takes a few lines:
///
/// ```
/// use telemetry_core::model::{Describe, Description};
///
/// struct Dense {
///     inputs: usize,
///     outputs: usize,
/// }
///
/// impl Describe for Dense {
///     fn describe(&self, module: &mut Description) {
///         module.kind("Dense").attribute("inputs", self.inputs).attribute("outputs", self.outputs);
///         module.parameters(self.inputs * self.outputs).width(self.inputs.max(self.outputs));
///     }
/// }
/// ```
pub trait Describe {
    /// Says how it is built.
    fn describe(&self, module: &mut Description);

    /// Adds itself below another module; the name is that of the field.
    fn add_to(&self, name: &str, parent: &mut Description) {
        let mut module = Description::of::<Self>();
        self.describe(&mut module);
        parent.child(name, module);
    }
}

/// The description of a module: a node of the tree that a model is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    attributes: Map<String, Value>,
    #[serde(skip_serializing_if = "is_zero")]
    params: usize,
    #[serde(skip)]
    width: usize,
    #[serde(skip_serializing_if = "Map::is_empty")]
    modules: Map<String, Value>,
    #[serde(skip)]
    below: Totals,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Totals {
    params: usize,
    width: usize,
    modules: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Description {
    /// Of a module of this type, of which nothing else is known.
    pub(super) fn of<T: ?Sized>() -> Self {
        Self {
            kind: short_type_name(std::any::type_name::<T>()),
            attributes: Map::new(),
            params: 0,
            width: 0,
            modules: Map::new(),
            below: Totals::default(),
        }
    }

    /// Says what type of module it is, instead of the name of the Rust type.
    pub fn kind(&mut self, kind: &str) -> &mut Self {
        kind.clone_into(&mut self.kind);
        self
    }

    /// Adds an attribute, such as the number of its inputs.
    pub fn attribute(&mut self, name: &str, value: impl Serialize) -> &mut Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.attributes.insert(name.to_owned(), value);
        }
        self
    }

    /// Adds so many parameters of its own.
    pub fn parameters(&mut self, count: usize) -> &mut Self {
        self.params += count;
        self
    }

    /// Says how many features it takes or gives, whichever is more.
    pub fn width(&mut self, width: usize) -> &mut Self {
        self.width = self.width.max(width);
        self
    }

    /// Adds a module below it.
    pub fn add<T: Describe + ?Sized>(&mut self, name: &str, module: &T) -> &mut Self {
        module.add_to(name, self);
        self
    }

    pub(super) fn child(&mut self, name: &str, child: Self) {
        let of_child = child.totals();
        self.below.params += of_child.params;
        self.below.modules += of_child.modules;
        self.below.width = self.below.width.max(of_child.width);
        if let Ok(value) = serde_json::to_value(&child) {
            self.modules.insert(name.to_owned(), value);
        }
    }

    fn totals(&self) -> Totals {
        Totals {
            params: self.params + self.below.params,
            width: self.width.max(self.below.width),
            modules: 1 + self.below.modules,
        }
    }
}

/// What is stored of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// How many parameters it has in all.
    params: usize,
    /// The most features that one of its modules takes or gives.
    max_width: usize,
    /// How many modules it has, itself among them.
    n_modules: usize,
    /// The tree of them.
    modules: Description,
}

impl Profile {
    /// Of this model.
    ///
    /// ```
    /// use telemetry_core::model::{Describe, Layer, Description, Profile};
    ///
    /// struct Bias(Vec<f32>);
    ///
    /// impl Describe for Bias {
    ///     fn describe(&self, module: &mut Description) {
    ///         module.kind("Bias").parameters(self.0.len()).width(self.0.len());
    ///     }
    /// }
    ///
    /// let profile = Profile::of(&Layer::new("bias", Bias(vec![0.0; 3])));
    /// let json = serde_json::to_string(&profile).unwrap();
    /// assert_eq!(json, r#"{"params":3,"max_width":3,"n_modules":1,"modules":{"type":"Bias","params":3}}"#);
    /// ```
    pub fn of<T: Describe + ?Sized>(model: &T) -> Self {
        let mut modules = Description::of::<T>();
        model.describe(&mut modules);
        let Totals { params, width, modules: n_modules } = modules.totals();
        Self { params, max_width: width, n_modules, modules }
    }
}

macro_rules! lists {
    ($($list:ty [$($generics:tt)*],)+) => {
        $(
            impl<T: Describe, $($generics)*> Describe for $list {
                fn describe(&self, module: &mut Description) {
                    for (position, item) in self.iter().enumerate() {
                        module.add(&position.to_string(), item);
                    }
                }

                fn add_to(&self, name: &str, parent: &mut Description) {
                    for (position, item) in self.iter().enumerate() {
                        item.add_to(&format!("{name}.{position}"), parent);
                    }
                }
            }
        )+
    };
}

lists! { Vec<T> [], [T; N] [const N: usize], }

impl<T: Describe> Describe for Option<T> {
    fn describe(&self, module: &mut Description) {
        if let Some(item) = self {
            item.describe(module);
        }
    }

    fn add_to(&self, name: &str, parent: &mut Description) {
        if let Some(item) = self {
            item.add_to(name, parent);
        }
    }
}

impl<T: Describe + ?Sized> Describe for Box<T> {
    fn describe(&self, module: &mut Description) {
        (**self).describe(module);
    }

    fn add_to(&self, name: &str, parent: &mut Description) {
        (**self).add_to(name, parent);
    }
}

/// The name of a type without the modules that it lies in.
pub(super) fn short_type_name(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    for part in name.split_inclusive(['<', '>', ',', ' ', '(', ')', '[', ']', '&', ';']) {
        short.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_lose_their_modules() {
        assert_eq!(short_type_name("a::b::C<d::E, &[f::G]>"), "C<E, &[G]>");
        assert_eq!(short_type_name("f32"), "f32");
        assert_eq!(short_type_name("a::b::{{closure}}"), "{{closure}}");
    }
}
