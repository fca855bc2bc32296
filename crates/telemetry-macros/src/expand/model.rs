//! Prints what makes a struct a model.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;

use crate::validate::ModelPlan;

/// The implementations that go behind the struct.
pub(crate) fn expand(plan: &ModelPlan) -> TokenStream {
    let ModelPlan { ident, generics, name, fields, private } = plan;
    let (impl_generics, type_generics, conditions) = generics.split_for_impl();
    let own_name = ident.unraw().to_string();
    let described = fields.iter().map(|field| {
        let (conditions, name, member) = (&field.conditions, &field.name, &field.member);
        quote_spanned! {Span::mixed_site()=>
            #(#conditions)* #private::describe!(&mut *__module, #name, &self.#member);
        }
    });
    let identified = fields.iter().map(|field| {
        let (conditions, member) = (&field.conditions, &field.member);
        quote_spanned! {Span::mixed_site()=>
            #(#conditions)*
            if let ::core::option::Option::Some(__number) = #private::identity!(&self.#member) {
                return ::core::option::Option::Some(__number);
            }
        }
    });
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl #impl_generics #private::Describe for #ident #type_generics #conditions {
            fn describe(&self, __module: &mut #private::Description) {
                __module.kind(#name);
                #(#described)*
            }
        }

        #[automatically_derived]
        impl #impl_generics #private::Model for #ident #type_generics #conditions {
            const NAME: &'static str = #name;
            const PATH: &'static str = ::core::concat!(::core::module_path!(), "::", #own_name);

            fn identity(&self) -> ::core::option::Option<u64> {
                #(#identified)*
                ::core::option::Option::None
            }

            fn registry() -> &'static #private::Registry {
                static __REGISTRY: #private::Registry = #private::Registry::new();
                &__REGISTRY
            }
        }

        #[automatically_derived]
        impl #impl_generics #private::Anchor for #ident #type_generics #conditions {
            fn first_layer(&self) -> ::core::option::Option<u64> {
                #private::Model::identity(self)
            }

            fn outline(&self, __name: &str, __module: &mut #private::Description) {
                #private::Describe::add_to(self, __name, __module);
            }
        }
    }
}
