//! The program from outside: its commands on a database that this process records.

mod child;
mod fixture;
mod json;
mod misuse;
mod pages;
mod screen;
mod settings;
mod tables;
