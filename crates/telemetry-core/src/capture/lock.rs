//! Locks are tried and never waited for: the task that holds one may wait for this very thread.

use crate::encoder::ValueEncoder;
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock, TryLockError};

/// A lock around something that is `Serialize`. Other locks need no care here: their own `Debug` does
/// not wait either.
#[doc(hidden)]
pub trait TryLock {
    /// Writes what is inside, or that it is locked.
    fn write(&self, value_encoder: &mut ValueEncoder<'_>);
}

const LOCKED: &str = "locked";

impl<T: Serialize + ?Sized> TryLock for Mutex<T> {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        match self.try_lock() {
            Ok(content) => value_encoder.serialize(&*content),
            Err(TryLockError::Poisoned(poisoned)) => value_encoder.serialize(&**poisoned.get_ref()),
            Err(TryLockError::WouldBlock) => value_encoder.failed(LOCKED),
        }
    }
}

impl<T: Serialize + ?Sized> TryLock for RwLock<T> {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        match self.try_read() {
            Ok(content) => value_encoder.serialize(&*content),
            Err(TryLockError::Poisoned(poisoned)) => value_encoder.serialize(&**poisoned.get_ref()),
            Err(TryLockError::WouldBlock) => value_encoder.failed(LOCKED),
        }
    }
}

impl<T: Serialize + ?Sized> TryLock for RefCell<T> {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        match self.try_borrow() {
            Ok(content) => value_encoder.serialize(&*content),
            Err(_) => value_encoder.failed(LOCKED),
        }
    }
}

macro_rules! pointers {
    ($($pointer:ty,)+) => {
        $(
            impl<T: TryLock + ?Sized> TryLock for $pointer {
                fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
                    (**self).write(value_encoder);
                }
            }
        )+
    };
}

pointers! { &T, &mut T, Box<T>, Rc<T>, Arc<T>, }
