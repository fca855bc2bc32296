//! `#[task]` and `#[workflow]` on every form of function that people write: each is compiled, called, and compared
//! with the same function without the attribute where order or size matter.

mod drops;
mod functions;
mod futures;
mod helpers;
mod in_place;
mod methods;
mod opaque;
mod patterns;
