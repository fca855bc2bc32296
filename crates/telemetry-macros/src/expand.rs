//! Third stage: plans are printed.

mod body;
mod model;
mod task;
mod values;
mod workflow;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::complaints::Complaints;
use crate::function::Function;
use crate::impl_block::{hand_on, is_impl_block};
use crate::parse::{ModelOptions, TaskOptions, WorkflowOptions};
use crate::validate;

/// Expands `#[task(options)] item`.
pub(crate) fn task(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut complaints = Complaints::default();
    let options = TaskOptions::parse(options, &mut complaints);
    if is_impl_block(item) {
        let block = syn::parse2(item.clone()).map_err(|error| complaints.push(error)).ok();
        let plan = block.map(|block| hand_on(&options, block, &mut complaints));
        return finish(item, &complaints, plan, |block| block);
    }
    let plan =
        function(item, &mut complaints).map(|function| validate::task(options, function, &mut complaints));
    finish(item, &complaints, plan, task::expand)
}

/// Expands `#[workflow(options)] item`.
pub(crate) fn workflow(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut complaints = Complaints::default();
    let options = WorkflowOptions::parse(options, &mut complaints);
    let plan = function(item, &mut complaints)
        .map(|function| validate::workflow(options, function, &mut complaints));
    finish(item, &complaints, plan, workflow::expand)
}

/// Expands `#[forward(options)] item`.
pub(crate) fn forward(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut complaints = Complaints::default();
    let options = TaskOptions::parse_forward(options, &mut complaints);
    let plan =
        function(item, &mut complaints).map(|function| validate::forward(options, function, &mut complaints));
    finish(item, &complaints, plan, task::expand)
}

/// Expands `#[model(options)] item`, also in builds that capture nothing: loops know models by their trait.
pub(crate) fn model(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut complaints = Complaints::default();
    let options = ModelOptions::parse(options, &mut complaints);
    let plan = structure(item, &mut complaints)
        .map(|structure| validate::model(&options, &structure, &mut complaints));
    let implementations = plan.filter(|_| complaints.is_empty()).map(|plan| model::expand(&plan));
    let errors = complaints.to_compile_errors();
    quote!(#item #implementations #errors)
}

fn structure(item: &TokenStream, complaints: &mut Complaints) -> Option<syn::ItemStruct> {
    let parsed = syn::parse2::<syn::Item>(item.clone()).map_err(|error| complaints.push(error)).ok()?;
    match parsed {
        syn::Item::Struct(structure) => Some(structure),
        _ => {
            let is_word = |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word != "pub");
            let word = item.clone().into_iter().find(is_word);
            complaints.at(word.to_token_stream(), "this attribute stands on a struct");
            None
        }
    }
}

fn function(item: &TokenStream, complaints: &mut Complaints) -> Option<Function> {
    syn::parse2(item.clone()).map_err(|error| complaints.push(error)).ok()
}

/// Prints the plan; after a mistake, or in builds that capture nothing, the item as it was.
fn finish<P, T: ToTokens>(
    item: &TokenStream,
    complaints: &Complaints,
    plan: Option<P>,
    expand: impl FnOnce(P) -> T,
) -> TokenStream {
    match plan {
        Some(plan) if complaints.is_empty() && cfg!(feature = "capture") => expand(plan).into_token_stream(),
        _ => {
            let errors = complaints.to_compile_errors();
            quote!(#item #errors)
        }
    }
}
