//! serde's data model in the binary form: enums are tagged from outside, as in `serde_json`.

use super::append;
use super::budget::Writer;
use super::compound::Compound;
use super::error::Error;
use crate::value::tag;
use serde::Serialize;
use std::fmt::Display;

pub(super) struct Serializer<'w, 'a> {
    writer: &'w mut Writer<'a>,
    /// Whether the value is what [`crate::file::File`] found, as bytes.
    is_file: bool,
}

impl<'w, 'a> Serializer<'w, 'a> {
    #[inline]
    pub(super) fn new(writer: &'w mut Writer<'a>) -> Self {
        Self { writer, is_file: false }
    }

    fn open(self, tag: u8, total: Option<usize>) -> Result<Compound<'w, 'a>, Error> {
        self.writer.open(tag, total)?;
        Ok(Compound { writer: self.writer, in_variant: false, is_hidden: false })
    }

    fn open_variant(self, variant: &'static str, tag: u8, total: usize) -> Result<Compound<'w, 'a>, Error> {
        let is_hidden = match begin_variant(self.writer, variant)? {
            Some(kind) => self.writer.redacted(kind).map(|()| true)?,
            None => self.writer.open(tag, Some(total)).map(|()| false)?,
        };
        Ok(Compound { writer: self.writer, in_variant: true, is_hidden })
    }
}

/// Begins the map that names a variant; the kind of secret that the name announces, if it does.
fn begin_variant(writer: &mut Writer<'_>, variant: &'static str) -> Result<Option<&'static str>, Error> {
    writer.open(tag::MAP, Some(1))?;
    writer.begin_key()?;
    writer.plain_text(variant)?;
    writer.end_key();
    Ok(writer.kind_of_field(variant))
}

macro_rules! numbers {
    ($($method:ident($type:ty) => $append:ident;)+) => {
        $(
            #[inline]
            fn $method(self, number: $type) -> Result<(), Error> {
                self.writer.number(|bytes| append::$append(bytes, number.into()))
            }
        )+
    };
}

impl<'w, 'a> serde::Serializer for Serializer<'w, 'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'w, 'a>;
    type SerializeTuple = Compound<'w, 'a>;
    type SerializeTupleStruct = Compound<'w, 'a>;
    type SerializeTupleVariant = Compound<'w, 'a>;
    type SerializeMap = Compound<'w, 'a>;
    type SerializeStruct = Compound<'w, 'a>;
    type SerializeStructVariant = Compound<'w, 'a>;

    numbers! {
        serialize_i8(i8) => int;
        serialize_i16(i16) => int;
        serialize_i32(i32) => int;
        serialize_i64(i64) => int;
        serialize_i128(i128) => int128;
        serialize_u8(u8) => unsigned;
        serialize_u16(u16) => unsigned;
        serialize_u32(u32) => unsigned;
        serialize_u64(u64) => unsigned;
        serialize_u128(u128) => unsigned128;
        serialize_f32(f32) => float32;
        serialize_f64(f64) => float;
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.writer.mark_byte(if value { tag::TRUE } else { tag::FALSE })
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.writer.text(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.writer.text(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        if self.is_file {
            return self.writer.file(value);
        }
        self.writer.bytes(value)
    }

    fn is_human_readable(&self) -> bool {
        !self.is_file
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.writer.mark_byte(tag::NULL)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.writer.transparent(value)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.writer.mark_byte(tag::NULL)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Error> {
        self.writer.mark_byte(tag::NULL)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.writer.plain_text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if name == crate::file::NEWTYPE {
            return value.serialize(Self { is_file: true, ..self });
        }
        self.writer.transparent(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        match begin_variant(self.writer, variant)? {
            Some(kind) => self.writer.redacted(kind)?,
            None => self.writer.nested(value)?,
        }
        self.writer.end()
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Compound<'w, 'a>, Error> {
        self.open(tag::SEQUENCE, length)
    }

    fn serialize_tuple(self, length: usize) -> Result<Compound<'w, 'a>, Error> {
        self.open(tag::SEQUENCE, Some(length))
    }

    fn serialize_tuple_struct(self, _name: &'static str, length: usize) -> Result<Compound<'w, 'a>, Error> {
        self.open(tag::SEQUENCE, Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Compound<'w, 'a>, Error> {
        self.open_variant(variant, tag::SEQUENCE, length)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Compound<'w, 'a>, Error> {
        self.open(tag::MAP, length)
    }

    fn serialize_struct(self, _name: &'static str, length: usize) -> Result<Compound<'w, 'a>, Error> {
        self.open(tag::MAP, Some(length))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Compound<'w, 'a>, Error> {
        self.open_variant(variant, tag::MAP, length)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.writer.display(&value)
    }
}
