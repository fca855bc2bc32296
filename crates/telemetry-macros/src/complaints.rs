//! Everything that is wrong with one use of an attribute, each at its token.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The mistakes found so far; the stages go on after each, so that the user sees all of them at once.
#[derive(Default)]
pub(crate) struct Complaints {
    first: Option<syn::Error>,
}

impl Complaints {
    /// Complains about these tokens.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.first {
            Some(first) => first.combine(error),
            None => self.first = Some(error),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// One `compile_error!` a mistake, and nothing if there is none.
    pub(crate) fn to_compile_errors(&self) -> TokenStream {
        self.first.as_ref().map(syn::Error::to_compile_error).unwrap_or_default()
    }

    /// The messages in the order of their discovery.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.first.iter().flatten().map(|error| error.to_string()).collect()
    }
}
