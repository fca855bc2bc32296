//! Sequences, maps and structs while serde fills them.

use super::budget::Writer;
use super::error::Error;
use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

pub(super) struct Compound<'w, 'a> {
    pub(super) writer: &'w mut Writer<'a>,
    /// Whether it is the one value of a map that names the variant of an enum.
    pub(super) in_variant: bool,
    /// Whether it is secret as a whole: nothing of it was opened.
    pub(super) is_hidden: bool,
}

impl Compound<'_, '_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if self.is_hidden {
            return Ok(());
        }
        let kind = self.writer.kind_after_item();
        self.writer.begin_item()?;
        self.value(kind, value)
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        if self.is_hidden {
            return Ok(());
        }
        self.writer.begin_key()?;
        self.writer.plain_text(key)?;
        self.writer.end_key();
        let kind = self.writer.kind_of_field(key);
        self.value(kind, value)
    }

    fn value<T: Serialize + ?Sized>(&mut self, kind: Option<&str>, value: &T) -> Result<(), Error> {
        match kind {
            Some(kind) => self.writer.redacted(kind),
            None => self.writer.nested(value),
        }
    }

    fn finish(self) -> Result<(), Error> {
        if self.is_hidden {
            return self.writer.end();
        }
        self.writer.end()?;
        if self.in_variant { self.writer.end() } else { Ok(()) }
    }
}

macro_rules! sequences {
    ($($trait:ident::$method:ident;)+) => {
        $(
            impl $trait for Compound<'_, '_> {
                type Ok = ();
                type Error = Error;

                #[inline]
                fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                    self.element(value)
                }

                fn end(self) -> Result<(), Error> {
                    self.finish()
                }
            }
        )+
    };
}

sequences! {
    SerializeSeq::serialize_element;
    SerializeTuple::serialize_element;
    SerializeTupleStruct::serialize_field;
    SerializeTupleVariant::serialize_field;
}

macro_rules! structs {
    ($($trait:ident;)+) => {
        $(
            impl $trait for Compound<'_, '_> {
                type Ok = ();
                type Error = Error;

                #[inline]
                fn serialize_field<T: Serialize + ?Sized>(
                    &mut self,
                    key: &'static str,
                    value: &T,
                ) -> Result<(), Error> {
                    self.field(key, value)
                }

                fn end(self) -> Result<(), Error> {
                    self.finish()
                }
            }
        )+
    };
}

structs! {
    SerializeStruct;
    SerializeStructVariant;
}

impl SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.writer.begin_key()?;
        self.writer.nested(key)?;
        self.writer.end_key();
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if !self.writer.key_waits() {
            return Err(Error::Failed("a value came without its key".into()));
        }
        let kind = self.writer.kind_of_key();
        self.value(kind, value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}
