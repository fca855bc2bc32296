//! Values that are written as they are.

use crate::encoder::ValueEncoder;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// A value whose writing runs no code of the user.
#[doc(hidden)]
pub trait Plain {
    /// Writes the value.
    fn write(&self, value_encoder: &mut ValueEncoder<'_>);
}

macro_rules! plain {
    ($($type:ty: |$value:ident| $method:ident($argument:expr);)+) => {
        $(
            impl Plain for $type {
                #[inline]
                fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
                    let $value = self;
                    value_encoder.$method($argument);
                }
            }
        )+
    };
}

plain! {
    bool: |value| boolean(*value);
    char: |value| character(*value);
    i8: |value| int(i64::from(*value));
    i16: |value| int(i64::from(*value));
    i32: |value| int(i64::from(*value));
    i64: |value| int(*value);
    isize: |value| int(*value as i64);
    i128: |value| int128(*value);
    u8: |value| int(i64::from(*value));
    u16: |value| int(i64::from(*value));
    u32: |value| int(i64::from(*value));
    u64: |value| unsigned(*value);
    usize: |value| unsigned(*value as u64);
    u128: |value| unsigned128(*value);
    f32: |value| float32(*value);
    f64: |value| float(*value);
    str: |value| text(value);
    String: |value| text(value);
    Path: |value| path(value);
    PathBuf: |value| path(value);
    OsStr: |value| os_text(value);
    OsString: |value| os_text(value);
}

macro_rules! pointers {
    ($($pointer:ty,)+) => {
        $(
            impl<T: Plain + ?Sized> Plain for $pointer {
                #[inline]
                fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
                    (**self).write(value_encoder);
                }
            }
        )+
    };
}

pointers! { &T, &mut T, Box<T>, Rc<T>, Arc<T>, }

impl<T: Plain + ToOwned + ?Sized> Plain for Cow<'_, T> {
    #[inline]
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        (**self).write(value_encoder);
    }
}

impl<T: Plain> Plain for Option<T> {
    #[inline]
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        match self {
            Some(value) => value.write(value_encoder),
            None => value_encoder.null(),
        }
    }
}
