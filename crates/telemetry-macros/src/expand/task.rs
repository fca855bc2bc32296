//! Prints a task.

use proc_macro2::{Group, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Token;
use syn::ext::IdentExt;

use crate::arguments::{Argument, rename};
use crate::expand::body;
use crate::function::Function;
use crate::validate::{Form, FutureBody, TaskPlan, mentions};

/// The function of the plan, with its body rebuilt.
pub(crate) fn expand(mut plan: TaskPlan) -> Function {
    let around = match &plan.form {
        Form::Sync => sync_body(&plan),
        Form::Async => async_body(&plan),
        Form::Future(future) => future_body(&plan, future),
        Form::Place => body_in_place(&plan),
    };
    let renamed = match plan.form {
        Form::Sync | Form::Async => true,
        Form::Future(_) | Form::Place => false,
    };
    if renamed {
        let lints = rename(&mut plan.function.signature, &plan.arguments);
        plan.function.attributes.extend(lints);
    }
    let callsite = callsite(&plan);
    plan.function.body =
        body::braces(&plan.function.body, quote_spanned!(Span::mixed_site()=> #callsite #around));
    plan.function
}

/// What is known about the function before it is called.
fn callsite(plan: &TaskPlan) -> TokenStream {
    let TaskPlan { activity, private, .. } = plan;
    let ident = &plan.function.signature.ident;
    let name = ident.unraw().to_string();
    let keys = plan.keys();
    let line = quote_spanned!(ident.span()=> ::core::line!());
    let level = plan.level.as_ref().map_or_else(
        || quote_spanned!(Span::mixed_site()=> ::core::option::Option::None),
        |level| quote_spanned!(Span::mixed_site()=> ::core::option::Option::Some(#private::Level::#level)),
    );
    quote_spanned! {Span::mixed_site()=>
        static __TELEMETRY_CALLSITE: #private::Callsite = #private::Callsite::new(
            #activity,
            ::core::concat!(::core::module_path!(), "::", #name),
            ::core::file!(),
            #line,
            #level,
            &[#(#keys),*],
        );
    }
}

/// The arguments travel in a tuple, so that nothing borrows them across the call of the body.
fn sync_body(plan: &TaskPlan) -> TokenStream {
    let TaskPlan { function, arguments, private, .. } = plan;
    let used = plan.used_of_tuple();
    let ended = plan.ended();
    let annotation = plan.returned.annotation();
    let idents = arguments.iter().map(|argument| &argument.ident);
    let parameters = arguments.iter().map(parameter(body::has_patterns(arguments)));
    let body = sync_statements(function, arguments);
    let quiet = body::quiet(arguments);
    quote_spanned! {body::shown_at(function.signature.ident.span())=>
        #quiet
        let __arguments = (#(#idents,)*);
        #private::run(
            &__TELEMETRY_CALLSITE,
            __arguments,
            #used,
            move |(#(#parameters,)*)| -> #annotation #body,
            #ended,
        )
    }
}

/// An argument as the closure takes it; where it is bound again, that one is `mut`.
fn parameter(bound_again: bool) -> impl Fn(&Argument) -> TokenStream {
    move |argument| {
        let mutability: Option<Token![mut]> = argument.mutability.filter(|_| !bound_again);
        let mut tokens = mutability.to_token_stream();
        argument.ident.to_tokens(&mut tokens);
        tokens
    }
}

fn sync_statements(function: &Function, arguments: &[Argument]) -> Group {
    let receiver = body::take_receiver(&function.signature);
    if !body::has_patterns(arguments) {
        return body::braces(&function.body, body::after(receiver, &function.body));
    }
    let bound = body::behind_bindings(&body::bind(arguments), &function.body);
    body::braces(&function.body, quote_spanned!(Span::mixed_site()=> #receiver #bound))
}

fn async_body(plan: &TaskPlan) -> TokenStream {
    let TaskPlan { function, arguments, .. } = plan;
    let receiver = body::take_receiver(&function.signature);
    let typed = body::typed_return(&plan.returned);
    let statements = if body::has_patterns(arguments) {
        let bound = body::behind_bindings(&body::bind(arguments), &function.body);
        quote_spanned!(Span::mixed_site()=> #receiver #typed #bound)
    } else {
        let taken = body::take_arguments(arguments);
        body::after(quote_spanned!(Span::mixed_site()=> #taken #receiver #typed), &function.body)
    };
    let begun = begun_with_arguments(plan);
    let future = body::braces(&function.body, statements);
    body::polled(&begun, &future, &plan.returned, &plan.ended())
}

/// Begins a task inside a closure that gives the arguments back. Were they borrowed in the future itself, it would
/// keep room for them although they move on.
fn begun_with_arguments(plan: &TaskPlan) -> TokenStream {
    let TaskPlan { arguments, private, .. } = plan;
    let used = plan.used_before_patterns();
    let begin = quote_spanned!(Span::mixed_site()=> #private::begin(&__TELEMETRY_CALLSITE, #used));
    if arguments.is_empty() {
        return quote_spanned!(Span::mixed_site()=> let mut __begun = #begin;);
    }
    let idents = arguments.iter().map(|argument| &argument.ident);
    let parameters = arguments.iter().map(parameter(body::has_patterns(arguments)));
    let quiet = body::quiet(arguments);
    quote_spanned! {Span::mixed_site()=>
        #quiet
        let (mut __begun, #(#parameters,)*) = (move || {
            let __begun = #begin;
            (__begun, #(#idents,)*)
        })();
    }
}

/// The task begins with the first poll; arguments that the future does not own cannot be captured then.
fn future_body(plan: &TaskPlan, future: &FutureBody) -> TokenStream {
    let TaskPlan { private, .. } = plan;
    let used = plan.used_by_name(|name| mentions(future.block.stream(), &|word| word == name));
    let quiet = body::quiet(&plan.arguments);
    let begun = quote_spanned! {Span::mixed_site()=>
        #quiet
        let mut __begun = #private::begin(&__TELEMETRY_CALLSITE, #used);
    };
    let typed = body::typed_return(&plan.returned);
    let statements = body::braces(&future.block, body::after(typed, &future.block));
    let polled = body::polled(&begun, &statements, &plan.returned, &plan.ended());
    let block = quote_spanned!(Span::mixed_site()=> async move { #polled });
    if future.call.is_empty() {
        return block;
    }
    let call = &future.call;
    quote_spanned!(Span::mixed_site()=> #call(#block))
}

fn body_in_place(plan: &TaskPlan) -> TokenStream {
    let TaskPlan { function, private, .. } = plan;
    let used = plan.used_by_name(|_| true);
    let quiet = body::quiet(&plan.arguments);
    let guard = quote_spanned! {Span::mixed_site()=>
        #quiet
        let __guard = #private::Guard::enter(&__TELEMETRY_CALLSITE, #used);
    };
    body::after(guard, &function.body)
}
