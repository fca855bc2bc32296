//! Prints a task.
//!
//! An `async fn` becomes what the compiler makes of it anyway, a function that returns a future: inside of an async
//! function, the recorded future would have its arguments twice. Attributes that we do not know may want to see the
//! word `async`, so it stays where there are some; and the documentation shows the function as it was written.

use proc_macro2::{Group, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::{ReceiverKind, ReturnType, Token};

use crate::arguments::{Argument, rename};
use crate::expand::body;
use crate::function::Function;
use crate::returned::Returned;
use crate::validate::{Form, FutureBody, TaskPlan, mentions};

/// The function of the plan, with its body rebuilt.
pub(crate) fn expand(plan: TaskPlan) -> TokenStream {
    if !matches!(plan.form, Form::Async) {
        return rebuilt(plan).into_token_stream();
    }
    let (written, private) = (plan.function.clone(), plan.private.clone());
    let mut rebuilt = rebuilt(plan);
    rebuilt.signature.asyncness = None;
    rebuilt.signature.output = future_of(&rebuilt.signature.output, &private);
    quote_spanned!(Span::mixed_site()=> #[cfg(doc)] #written #[cfg(not(doc))] #rebuilt)
}

fn rebuilt(mut plan: TaskPlan) -> Function {
    let around = match &plan.form {
        Form::Sync => sync_body(&plan),
        Form::Async => task_future(&plan),
        Form::AsyncInside => {
            let future = task_future(&plan);
            quote_spanned!(Span::mixed_site()=> #future.await)
        }
        Form::Future(future) => future_body(&plan, future),
        Form::Place => body_in_place(&plan),
    };
    let renamed = match plan.form {
        Form::Sync | Form::Async | Form::AsyncInside => true,
        Form::Future(_) | Form::Place => false,
    };
    if renamed {
        let lints = rename(&mut plan.function.signature, &plan.arguments);
        plan.function.attributes.extend(lints);
    }
    let callsite = callsite(&plan);
    let model = plan.is_forward.then(|| begin_forward(&plan));
    plan.function.body =
        body::braces(&plan.function.body, quote_spanned!(Span::mixed_site()=> #callsite #model #around));
    plan.function
}

/// Names the model that the method is a forward of.
fn begin_forward(plan: &TaskPlan) -> Option<TokenStream> {
    let private = &plan.private;
    let receiver = plan.function.signature.receiver()?;
    let word = receiver.self_token;
    let model = match receiver.kind {
        ReceiverKind::Reference(..) => quote_spanned!(Span::mixed_site()=> &*#word),
        _ => quote_spanned!(Span::mixed_site()=> &#word),
    };
    Some(quote_spanned! {body::shown_at(word.span)=>
        let __model = #private::begin_forward(&__TELEMETRY_CALLSITE, #model);
    })
}

/// The future of an async function with this output. It borrows whatever the arguments borrow, as ours are tokens of
/// the edition 2024, wherever they are printed.
fn future_of(output: &ReturnType, private: &TokenStream) -> ReturnType {
    let output = match output {
        ReturnType::Default => quote_spanned!(Span::mixed_site()=> ()),
        ReturnType::Type(_, never) if matches!(Returned::of(never), Returned::Never) => {
            quote_spanned!(Span::mixed_site()=> <fn() -> #never as #private::Returns>::Output)
        }
        ReturnType::Type(_, output) => output.to_token_stream(),
    };
    syn::parse_quote_spanned!(Span::mixed_site()=> -> impl ::core::future::Future<Output = #output>)
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

/// The body of an async function as a future of its own, which begins the task before it takes the arguments apart.
fn task_future(plan: &TaskPlan) -> TokenStream {
    let TaskPlan { function, arguments, private, .. } = plan;
    let taken = body::take_all(&function.signature, arguments);
    let used = plan.used_before_patterns();
    let quiet = body::quiet(arguments);
    let typed = body::typed_return(&plan.returned);
    let bound = body::behind_bindings(&body::bind(arguments), &function.body);
    let statements = quote_spanned! {Span::mixed_site()=>
        #taken
        #quiet
        #private::begin(&__TELEMETRY_CALLSITE, #used);
        #typed
        #bound
    };
    recorded_future(plan, &body::braces(&function.body, statements))
}

fn recorded_future(plan: &TaskPlan, statements: &Group) -> TokenStream {
    let (private, ended) = (&plan.private, plan.ended());
    quote_spanned!(Span::mixed_site()=> #private::TaskFuture::new(async move #statements, #ended))
}

/// The task begins with the first poll; arguments that the future does not own cannot be captured then.
fn future_body(plan: &TaskPlan, future: &FutureBody) -> TokenStream {
    let TaskPlan { private, .. } = plan;
    let used = plan.used_by_name(|name| mentions(future.block.stream(), &|word| word == name));
    let quiet = body::quiet(&plan.arguments);
    let typed = body::typed_return(&plan.returned);
    let begun = quote_spanned! {Span::mixed_site()=>
        #quiet
        #private::begin(&__TELEMETRY_CALLSITE, #used);
        #typed
    };
    let statements = body::braces(&future.block, body::after(begun, &future.block));
    let recorded = recorded_future(plan, &statements);
    if future.call.is_empty() {
        return recorded;
    }
    let call = &future.call;
    quote_spanned!(Span::mixed_site()=> #call(#recorded))
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
