//! Prints a workflow.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::LitStr;

use crate::expand::{body, values};
use crate::function::Function;
use crate::returned::Returned;
use crate::validate::{Outputs, WorkflowPlan};

/// The function of the plan, with its body rebuilt.
pub(crate) fn expand(mut plan: WorkflowPlan) -> Function {
    let site = site(&plan);
    let around =
        if plan.function.signature.asyncness.is_some() { async_body(&plan) } else { sync_body(&plan) };
    plan.function.body =
        body::braces(&plan.function.body, quote_spanned!(Span::mixed_site()=> #site #around));
    plan.function
}

fn site(plan: &WorkflowPlan) -> TokenStream {
    let WorkflowPlan { name, private, options, .. } = plan;
    let campaign = optional(options.campaign.as_ref());
    let description = optional(options.description.as_ref());
    let subtype = optional(options.subtype.as_ref());
    quote_spanned! {Span::mixed_site()=>
        static __TELEMETRY_WORKFLOW: #private::WorkflowSite = #private::WorkflowSite::new(
            #name,
            #private::WorkflowOptions { campaign: #campaign, description: #description, subtype: #subtype },
        );
    }
}

fn optional(text: Option<&LitStr>) -> TokenStream {
    let some = text.map(|text| quote_spanned!(Span::mixed_site()=> ::core::option::Option::Some(#text)));
    some.unwrap_or_else(|| quote_spanned!(Span::mixed_site()=> ::core::option::Option::None))
}

fn sync_body(plan: &WorkflowPlan) -> TokenStream {
    let private = &plan.private;
    let annotation = plan.returned.annotation();
    let body = body::braces(&plan.function.body, body::after(taken(plan), &plan.function.body));
    let ended = ended(plan);
    quote_spanned! {body::shown_at(plan.function.signature.ident.span())=>
        #private::run_workflow(&__TELEMETRY_WORKFLOW, move || -> #annotation #body, #ended)
    }
}

fn async_body(plan: &WorkflowPlan) -> TokenStream {
    let private = &plan.private;
    let taken = taken(plan);
    let typed = body::typed_return(&plan.returned);
    let statements = body::after(quote_spanned!(Span::mixed_site()=> #taken #typed), &plan.function.body);
    let begun = quote_spanned! {Span::mixed_site()=>
        let mut __begun = #private::begin_workflow(&__TELEMETRY_WORKFLOW);
    };
    let future = body::braces(&plan.function.body, statements);
    body::polled(&begun, &future, &plan.returned, &ended(plan))
}

/// The workflow's body owns what the function was given, patterns taken apart.
fn taken(plan: &WorkflowPlan) -> TokenStream {
    let arguments = body::take_names(&plan.arguments);
    let receiver = body::take_receiver(&plan.function.signature);
    quote_spanned!(Span::mixed_site()=> #arguments #receiver)
}

fn ended(plan: &WorkflowPlan) -> TokenStream {
    let outputs = match plan.returned {
        Returned::Value(_) => Outputs::Whole,
        Returned::Nothing | Returned::Never => Outputs::Nothing,
    };
    values::ended(&plan.private, &values::capture_macro("capture"), &outputs, 0)
}
