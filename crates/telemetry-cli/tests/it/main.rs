//! The program from outside: its commands on a database that this process records.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod attacks;
mod child;
mod fixture;
mod golden;
mod insight;
mod json;
mod live;
mod misuse;
mod pages;
mod perfetto;
mod run;
mod screen;
mod settings;
mod tables;
mod tail;
mod terminal;
mod top;
mod versions;
