//! The attributes of telemetry: tokens in, tokens out.
//!
//! Each attribute goes through three stages, each in files of its own: `parse` reads the options, `function` the
//! item; `validate` compares the two and makes a plan of them; `expand` prints the plan. Complaints of the first
//! two stages are collected and reported together, each at its token, and the item is then printed as it was.
//!
//! Generated code names nothing but `::telemetry::__private`.
#![forbid(unsafe_code)]

mod arguments;
mod complaints;
mod expand;
mod extras;
mod function;
mod impl_block;
mod nearest;
mod parse;
mod returned;
mod validate;

use proc_macro::TokenStream;

/// Records each call of a function as a task.
///
/// Put it on any function or method with a body, sync or async. What the arguments were, what was returned, how
/// long it took and how it ended is recorded; what the function does stays the same.
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | the activity, instead of the function's name |
/// | `output = "y"` | the name of the returned value in `generated` |
/// | `outputs("a", "b")` | the names of the fields of a returned tuple |
/// | `skip(x, y)` | arguments that are not captured |
/// | `skip_all` | no argument is captured |
/// | `redact(x)` | arguments whose value is replaced by a mark |
/// | `capture(n = expr)` | more to capture, computed before the body |
/// | `level = "data"` | how much is captured: off, lightweight, data, telemetry, full |
/// | `subtype = "…"` | a free word for the kind of task |
/// | `tags("a", "b")` | tags |
/// | `metadata(key = expr)` | metadata, computed before the body |
/// | `group = expr` | links the iterations of one loop: anything that is `Display` |
/// | `parent = expr` | the task that it stands below, instead of the caller: a `TaskId`, maybe, or a `Context` |
/// | `depends_on = expr` | the tasks whose results it uses: a `TaskId` or any number of them |
/// | `crate = path` | where the crate `telemetry` is found |
///
/// Expressions see the arguments by reference and not `self`. They run only where the call is recorded, before the
/// body; tasks that they call are not recorded.
///
/// On an `impl` block it records all methods but those that `skip` names and those that cannot be recorded; besides
/// `skip`, only `level`, `subtype`, `tags` and `crate` can be given there. A method with an attribute of its own keeps that one.
///
/// `self` is not captured. The returned value of a `#[track_caller]` function is not captured either, because its
/// body has to stay in place; the same holds for a returned `impl Fn(&T) -> …` or `impl Trait<dyn …>`.
#[proc_macro_attribute]
pub fn task(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::task(options.into(), &item.into()).into()
}

/// Records each call of a function as a workflow, to which the tasks inside belong.
///
/// Put it on `main`, also above or below a runtime's own attribute, or on any other function.
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"`, or the text alone | the workflow's name, instead of the function's |
/// | `campaign = "…"` | the set of workflows it belongs to |
/// | `description = "…"` | what it does |
/// | `subtype = "…"` | its kind |
/// | `crate = path` | where the crate `telemetry` is found |
#[proc_macro_attribute]
pub fn workflow(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::workflow(options.into(), &item.into()).into()
}

/// Makes a struct a model: its build can be stored, and a method of it can be a `#[forward]`.
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | the model's name, instead of the struct's |
/// | `skip(x, y)` | fields that are left out of the description |
/// | `crate = path` | where the crate `telemetry` is found |
///
/// The description of a model has its layers and modules, and the numbers and texts among its fields as attributes; what
/// else it has is no part of it.
#[proc_macro_attribute]
pub fn model(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::model(options.into(), &item.into()).into()
}

/// Records each call of a model's method as a task of the model, with subtype `parent_forward`.
///
/// Put it on the method of a struct with `#[model]`, also where the method is that of a trait. What is recorded is what
/// `#[task]` records, but of tensors only their shape, type and size; the settings say whether models are recorded.
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | the activity, instead of the model's name |
/// | `output = "y"` | the name of the returned value in `generated`, instead of `tensor` |
/// | `outputs("a", "b")` | the names of the fields of a returned tuple |
/// | `skip(x, y)`, `skip_all` | arguments that are not captured |
/// | `metadata(key = expr)` | metadata, computed before the body |
/// | `level = "data"` | how much is captured |
/// | `crate = path` | where the crate `telemetry` is found |
#[proc_macro_attribute]
pub fn forward(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::forward(options.into(), &item.into()).into()
}
