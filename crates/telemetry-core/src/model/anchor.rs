//! What has a layer somewhere inside.

use super::Description;

/// Something with a layer inside, whatever the layer's module is.
#[doc(hidden)]
pub trait Anchor {
    /// The number of the first layer.
    fn first_layer(&self) -> Option<u64>;

    /// Adds what is known of the layers without looking into their modules.
    fn outline(&self, name: &str, module: &mut Description);
}

macro_rules! lists {
    ($($list:ty [$($generics:tt)*],)+) => {
        $(
            impl<T: Anchor, $($generics)*> Anchor for $list {
                fn first_layer(&self) -> Option<u64> {
                    self.iter().find_map(Anchor::first_layer)
                }

                fn outline(&self, name: &str, module: &mut Description) {
                    for (position, item) in self.iter().enumerate() {
                        item.outline(&format!("{name}.{position}"), module);
                    }
                }
            }
        )+
    };
}

lists! { Vec<T> [], Option<T> [], [T; N] [const N: usize], }

impl<T: Anchor + ?Sized> Anchor for Box<T> {
    fn first_layer(&self) -> Option<u64> {
        (**self).first_layer()
    }

    fn outline(&self, name: &str, module: &mut Description) {
        (**self).outline(name, module);
    }
}
