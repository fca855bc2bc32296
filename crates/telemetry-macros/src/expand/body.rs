//! Bodies: how the statements of the user are put into a closure or a future so that they behave as before.
//!
//! What has to stay the same is the order in which arguments are dropped (the last one first, each with what its
//! pattern left over, `self` at the end), that temporaries of the last expression go before the arguments do, and
//! that a type error is reported where the user made it.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, ReceiverKind, Signature, Type};

use crate::arguments::Argument;
use crate::returned::Returned;

/// Where our own tokens are shown in messages and backtraces; what they mean does not depend on it.
pub(crate) fn shown_at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// Braces of the user around other content.
pub(crate) fn braces(like: &Group, stream: TokenStream) -> Group {
    let mut group = Group::new(Delimiter::Brace, stream);
    group.set_span(like.span());
    group
}

/// Makes a `move` closure or future take `self` as a whole, not only the fields that the body uses.
pub(crate) fn take_receiver(signature: &Signature) -> TokenStream {
    match signature.receiver() {
        Some(receiver) if !matches!(receiver.kind, ReceiverKind::Reference(..)) => {
            let word = receiver.self_token;
            quote_spanned!(Span::mixed_site()=> let _ = &#word;)
        }
        _ => TokenStream::new(),
    }
}

/// Makes a `move` future take `self` and all arguments as a whole, in the order in which an async function has them:
/// one that was never polled drops them so.
pub(crate) fn take_all(signature: &Signature, arguments: &[Argument]) -> TokenStream {
    let receiver = signature.receiver().map(|receiver| {
        let word = receiver.self_token;
        quote_spanned!(Span::mixed_site()=> let _ = &#word;)
    });
    let arguments = mention(arguments, arguments.iter().map(|argument| &argument.ident));
    quote_spanned!(Span::mixed_site()=> #receiver #arguments)
}

/// Makes a `move` closure or future take the names of the user as a whole. It drops them in the order in which they
/// are first mentioned, so the last one comes first.
pub(crate) fn take_names(arguments: &[Argument]) -> TokenStream {
    mention(arguments, arguments.iter().rev().flat_map(|argument| argument.names.iter().rev()))
}

fn mention<'a>(arguments: &[Argument], names: impl Iterator<Item = &'a Ident>) -> TokenStream {
    let quiet = quiet(arguments);
    quote_spanned!(Span::mixed_site()=> #(#quiet let _ = &#names;)*)
}

/// Keeps the lint about names with an underscore off a statement of ours: it is we who use them.
pub(crate) fn quiet(arguments: &[Argument]) -> Option<TokenStream> {
    let mut names = arguments.iter().flat_map(|argument| &argument.names);
    let any = names.any(|name| name.to_string().starts_with('_'));
    any.then(|| quote_spanned!(Span::mixed_site()=> #[allow(clippy::used_underscore_binding)]))
}

/// Binds each argument again, and what its pattern binds right behind it, as the compiler does for a function.
pub(crate) fn bind(arguments: &[Argument]) -> TokenStream {
    let quiet = quiet(arguments);
    let bindings = arguments.iter().map(|argument| {
        let Argument { ident, mutability, pattern, .. } = argument;
        let pattern =
            pattern.as_ref().map(|pattern| quote_spanned!(Span::mixed_site()=> let #pattern = #ident;));
        quote_spanned!(Span::mixed_site()=> #quiet let #mutability #ident = #ident; #pattern)
    });
    bindings.collect()
}

/// The body behind bindings. Before edition 2024, the temporaries of a last expression would outlive the bindings;
/// those of a `return` do not.
pub(crate) fn behind_bindings(bindings: &TokenStream, body: &Group) -> TokenStream {
    quote_spanned! {Span::mixed_site()=>
        #bindings
        #[allow(unreachable_code, unused_braces, clippy::diverging_sub_expression)]
        return #body;
    }
}

/// Tells the compiler the output of an async block, which has no place for a type.
pub(crate) fn typed_return(returned: &Returned) -> TokenStream {
    let annotation = returned.annotation();
    if matches!(annotation, Type::Never(_) | Type::Infer(_)) {
        return TokenStream::new();
    }
    quote_spanned! {shown_at(annotation.span())=>
        #[allow(unreachable_code)]
        if let ::core::option::Option::Some(__returned) = ::core::option::Option::None::<#annotation> {
            return __returned;
        }
    }
}

/// Whether an argument has a pattern, so that bindings must be made inside the body.
pub(crate) fn has_patterns(arguments: &[Argument]) -> bool {
    arguments.iter().any(|argument| argument.pattern.is_some())
}

/// Statements that poll `future` inside of what the statement `begun` begins, a task or a workflow, and end that with
/// the result.
pub(crate) fn polled(
    begun: &TokenStream,
    future: &Group,
    returned: &Returned,
    ended: &TokenStream,
) -> TokenStream {
    // Two references to what the future holds anyway: that alone decides whether it is unwind safe.
    let poll = quote_spanned! {Span::mixed_site()=>
        ::core::panic::AssertUnwindSafe(::core::future::poll_fn(move |__context| {
            __running.poll(__context, __future.as_mut())
        }))
        .await
    };
    let end = if matches!(returned, Returned::Never) {
        poll
    } else {
        quote_spanned! {Span::mixed_site()=>
            let __result = #poll;
            __begun.finish(&__result, #ended);
            __result
        }
    };
    quote_spanned! {Span::mixed_site()=>
        #begun
        let __running = &mut __begun;
        let mut __future = ::core::pin::pin!(async move #future);
        #end
    }
}

/// The user's statements, with something before them.
pub(crate) fn after(before: impl ToTokens, body: &Group) -> TokenStream {
    let mut tokens = before.into_token_stream();
    tokens.extend(body.stream());
    tokens
}
