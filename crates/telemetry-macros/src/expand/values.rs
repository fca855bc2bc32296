//! What is captured: calls of the encoder for arguments and results.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::{Ident, Index, LitStr};

use crate::arguments::Argument;
use crate::expand::body::shown_at;
use crate::validate::{Outputs, TaskPlan};

impl TaskPlan {
    fn is_captured(&self, name: &Ident) -> bool {
        !self.skipped.contains(name)
    }

    /// The captured names, in their order.
    fn captured(&self) -> impl Iterator<Item = &Ident> {
        self.arguments.iter().flat_map(|argument| &argument.names).filter(|name| self.is_captured(name))
    }

    /// The names of arguments, then those of outputs: what the callsite declares.
    pub(crate) fn keys(&self) -> Vec<String> {
        let used = self.captured().map(|name| name.unraw().to_string());
        used.chain(self.outputs.names().iter().map(LitStr::value)).collect()
    }

    fn key(&self, name: &Ident) -> usize {
        self.captured().position(|captured| captured == name).unwrap_or_default()
    }

    /// Captures the arguments where their own names are in scope.
    pub(crate) fn used_by_name(&self, is_in_scope: impl Fn(&Ident) -> bool) -> TokenStream {
        let calls: TokenStream = self
            .captured()
            .filter(|name| is_in_scope(name))
            .map(|name| self.used(name, &quote_spanned!(shown_at(name.span())=> &#name)))
            .collect();
        let names = self.arguments.iter().flat_map(|argument| &argument.names);
        let bindings = names.filter(|name| self.extras.mentions(name)).map(by_reference).collect();
        one_parameter(&self.with_extras(calls, &bindings))
    }

    /// Captures the arguments before their patterns were matched.
    pub(crate) fn used_before_patterns(&self) -> TokenStream {
        one_parameter(&self.used_of_each(|_, ident| quote_spanned!(shown_at(ident.span())=> &#ident)))
    }

    /// Captures the arguments out of a tuple in which they all lie.
    pub(crate) fn used_of_tuple(&self) -> TokenStream {
        let calls = self.used_of_each(|position, ident| {
            let span = shown_at(ident.span());
            let index = Index { index: position as u32, span };
            quote_spanned!(span=> &__arguments.#index)
        });
        if calls.is_empty() {
            return quote_spanned!(Span::mixed_site()=> |_, _| {});
        }
        quote_spanned!(Span::mixed_site()=> |__encoder, __arguments| { #calls })
    }

    fn used_of_each(&self, place: impl Fn(usize, &Ident) -> TokenStream) -> TokenStream {
        let arguments = || self.arguments.iter().enumerate();
        let calls =
            arguments().map(|(position, argument)| self.used_of(argument, &place(position, &argument.ident)));
        let bindings = arguments()
            .map(|(position, argument)| self.bound_for_extras(argument, &place(position, &argument.ident)));
        self.with_extras(calls.collect(), &bindings.collect())
    }

    /// Captures one argument, or what its pattern finds in it.
    fn used_of(&self, argument: &Argument, place: &TokenStream) -> TokenStream {
        let hidden: Vec<Ident> = self.skipped.iter().chain(&self.redacted).cloned().collect();
        let Some((pattern, names)) = argument.by_reference(&hidden) else {
            let name = argument.names.first().filter(|name| self.is_captured(name));
            return name.map(|name| self.used(name, place)).unwrap_or_default();
        };
        let redacted =
            argument.names.iter().filter(|name| self.is_captured(name) && self.redacted.contains(name));
        let redacted = redacted.map(|name| self.used(name, place));
        if names.is_empty() {
            return redacted.collect();
        }
        let calls = names.iter().map(|name| self.used(name, &quote_spanned!(Span::mixed_site()=> #name)));
        quote_spanned!(Span::mixed_site()=> { let #pattern = #place; #(#calls)* } #(#redacted)*)
    }

    /// Binds the names that expressions of options need, as references.
    fn bound_for_extras(&self, argument: &Argument, place: &TokenStream) -> TokenStream {
        let others: Vec<Ident> =
            argument.names.iter().filter(|name| !self.extras.mentions(name)).cloned().collect();
        if others.len() == argument.names.len() {
            return TokenStream::new();
        }
        let ident = &argument.ident;
        let pattern = argument.by_reference(&others).map_or_else(
            || quote_spanned!(Span::mixed_site()=> #ident),
            |(pattern, _)| pattern.into_token_stream(),
        );
        quote_spanned!(Span::mixed_site()=> let #pattern = #place;)
    }

    /// Adds what other options say; `bindings` are the names that they need.
    fn with_extras(&self, calls: TokenStream, bindings: &TokenStream) -> TokenStream {
        if self.extras.is_empty() {
            return calls;
        }
        let statements = self.extras.statements(&self.private);
        let model = self.is_forward.then(|| {
            quote_spanned! {Span::mixed_site()=>
                if let ::core::option::Option::Some(__model) = &__model {
                    __encoder.metadata("model_workflow_id", |__value| __value.display(__model));
                }
            }
        });
        quote_spanned!(Span::mixed_site()=> #calls #model #bindings #statements)
    }

    fn used(&self, name: &Ident, reference: &TokenStream) -> TokenStream {
        let key = self.key(name);
        let private = &self.private;
        let span = shown_at(name.span());
        if self.redacted.contains(name) {
            return quote_spanned!(span=> __encoder.used_redacted(#key););
        }
        let capture = self.capture_macro();
        quote_spanned!(span=> __encoder.used(#key, |__value| #private::#capture!(__value, #reference));)
    }

    /// Captures the result of the call.
    pub(crate) fn ended(&self) -> TokenStream {
        ended(&self.private, &self.capture_macro(), &self.outputs, self.captured().count())
    }

    /// What writes a value: of a tensor in a model, never its data.
    fn capture_macro(&self) -> Ident {
        capture_macro(if self.is_forward { "inspect" } else { "capture" })
    }
}

pub(crate) fn capture_macro(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// Captures a result: the error, or the outputs, whose keys begin at `first_key`.
pub(crate) fn ended(
    private: &TokenStream,
    macro_name: &Ident,
    outputs: &Outputs,
    first_key: usize,
) -> TokenStream {
    let capture = |reference| quote_spanned!(Span::mixed_site()=> |__value| #private::#macro_name!(__value, #reference));
    // The names of outputs may be secret as those of arguments are.
    let hide = quote_spanned!(Span::mixed_site()=> __encoder.hide(__TELEMETRY_CALLSITE.hidden_keys()););
    let calls = match outputs {
        Outputs::Nothing => return quote_spanned!(Span::mixed_site()=> |_, _| {}),
        Outputs::Whole => {
            let capture = capture(quote_spanned!(Span::mixed_site()=> __output));
            quote_spanned!(Span::mixed_site()=> __encoder.result(#capture);)
        }
        Outputs::Named(_) => {
            let capture = capture(quote_spanned!(Span::mixed_site()=> __output));
            quote_spanned!(Span::mixed_site()=> #hide __encoder.output(#first_key, #capture);)
        }
        Outputs::Fields(names) => {
            let calls = names.iter().enumerate().map(|(position, name)| {
                let index = Index { index: position as u32, span: name.span() };
                let capture = capture(quote_spanned!(Span::mixed_site()=> &__output.#index));
                let key = first_key + position;
                quote_spanned!(Span::mixed_site()=> __encoder.output(#key, #capture);)
            });
            quote_spanned!(Span::mixed_site()=> #hide #(#calls)*)
        }
    };
    quote_spanned! {Span::mixed_site()=>
        |__encoder, __result| match #private::outcome!(__result) {
            #private::Outcome::Value(__output) => { #calls }
            #private::Outcome::Error(__error) => {
                __encoder.error(|__value| #private::capture_error!(__value, __error));
            }
        }
    }
}

fn one_parameter(calls: &TokenStream) -> TokenStream {
    if calls.is_empty() {
        return quote_spanned!(Span::mixed_site()=> |_| {});
    }
    quote_spanned!(Span::mixed_site()=> |__encoder| { #calls })
}

fn by_reference(name: &Ident) -> TokenStream {
    quote_spanned!(Span::mixed_site()=> let #name = &#name;)
}
