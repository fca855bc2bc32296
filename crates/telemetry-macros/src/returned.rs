//! What a function returns, as far as its signature shows.

use syn::visit_mut::{self, VisitMut};
use syn::{GenericArgument, PathArguments, ReturnType, Type, TypeImplTrait, TypeParamBound};

/// What the expansion has to know about a return type.
pub(crate) enum Returned {
    Nothing,
    Never,
    Value(Box<Type>),
}

impl Returned {
    pub(crate) fn read(output: &ReturnType) -> Self {
        match output {
            ReturnType::Default => Self::Nothing,
            ReturnType::Type(_, returned) => Self::of(returned),
        }
    }

    pub(crate) fn of(returned: &Type) -> Self {
        match peel(returned) {
            Type::Never(_) => Self::Never,
            Type::Tuple(tuple) if tuple.elems.is_empty() => Self::Nothing,
            other => Self::Value(Box::new(other.clone())),
        }
    }

    /// The type as a closure or a binding may be annotated with: `_` in place of each `impl Trait`.
    pub(crate) fn annotation(&self) -> Type {
        match self {
            Self::Nothing => syn::parse_quote!(()),
            Self::Never => syn::parse_quote!(!),
            Self::Value(returned) => {
                let mut returned = (**returned).clone();
                InferOpaque.visit_type_mut(&mut returned);
                returned
            }
        }
    }

    /// Whether the body must stay in the tail of its own function to compile: only there a closure literal learns
    /// from `impl Fn(&T) -> …` that it holds for every lifetime, and a box from `dyn` what it is to become.
    pub(crate) fn needs_place(&self) -> bool {
        let Self::Value(returned) = self else { return false };
        let mut search = PlaceSearch::default();
        search.visit_type_mut(&mut (**returned).clone());
        search.found
    }

    /// How many values a tuple has, `Some(0)` for what is certainly none, `None` where only the compiler knows.
    pub(crate) fn fields(&self) -> Option<usize> {
        match self {
            Self::Nothing | Self::Never => Some(0),
            Self::Value(returned) => fields(returned, true),
        }
    }

    /// The `T` of `Pin<Box<dyn Future<Output = T>>>` or `impl Future<Output = T>`.
    pub(crate) fn future_output(&self) -> Option<Type> {
        let Self::Value(returned) = self else { return None };
        let inner = type_argument(returned, "Pin").and_then(|pinned| type_argument(pinned, "Box"));
        let bounds = match peel(inner.unwrap_or(returned)) {
            Type::TraitObject(object) => &object.bounds,
            Type::ImplTrait(opaque) => &opaque.bounds,
            _ => return None,
        };
        bounds.iter().find_map(output_of_bound)
    }
}

/// Takes away parentheses and the invisible groups that macros leave behind.
fn peel(mut returned: &Type) -> &Type {
    loop {
        returned = match returned {
            Type::Paren(inner) => &inner.elem,
            Type::Group(inner) => &inner.elem,
            other => return other,
        };
    }
}

fn output_of_bound(bound: &TypeParamBound) -> Option<Type> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let segment = bound.path.segments.last().filter(|segment| segment.ident == "Future")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(associated) if associated.ident == "Output" => Some(associated.ty.clone()),
        _ => None,
    })
}

/// The first type between the angle brackets of `name<…>`.
fn type_argument<'a>(holder: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = peel(holder) else { return None };
    let segment = path.path.segments.last().filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(argument) => Some(argument),
        _ => None,
    })
}

fn fields(returned: &Type, unpack: bool) -> Option<usize> {
    match peel(returned) {
        Type::Tuple(tuple) => Some(tuple.elems.len()),
        Type::Array(_)
        | Type::Slice(_)
        | Type::Never(_)
        | Type::Ptr(_)
        | Type::FnPtr(_)
        | Type::ImplTrait(_) => Some(0),
        Type::Reference(reference) => fields(&reference.elem, false),
        Type::Path(path) => {
            let ident = path.path.segments.last()?.ident.to_string();
            if ident == "Result" && unpack {
                return fields(type_argument(returned, "Result")?, false);
            }
            KNOWN_WITHOUT_FIELDS.contains(&ident.as_str()).then_some(0)
        }
        _ => None,
    }
}

const KNOWN_WITHOUT_FIELDS: [&str; 22] = [
    "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128",
    "isize", "f32", "f64", "String", "Vec", "Option", "HashMap", "BTreeMap",
];

struct InferOpaque;

impl VisitMut for InferOpaque {
    fn visit_type_mut(&mut self, visited: &mut Type) {
        if let Type::ImplTrait(opaque) = visited {
            let underscore = syn::Token![_](opaque.impl_token.span);
            *visited = syn::parse_quote!(#underscore);
        } else {
            visit_mut::visit_type_mut(self, visited);
        }
    }
}

#[derive(Default)]
struct PlaceSearch {
    inside_opaque: bool,
    inside_call: bool,
    found: bool,
}

impl VisitMut for PlaceSearch {
    fn visit_type_impl_trait_mut(&mut self, opaque: &mut TypeImplTrait) {
        let outside = std::mem::replace(&mut self.inside_opaque, true);
        visit_mut::visit_type_impl_trait_mut(self, opaque);
        self.inside_opaque = outside;
    }

    fn visit_parenthesized_generic_arguments_mut(&mut self, call: &mut syn::ParenthesizedGenericArguments) {
        let outside = std::mem::replace(&mut self.inside_call, true);
        visit_mut::visit_parenthesized_generic_arguments_mut(self, call);
        self.inside_call = outside;
    }

    fn visit_type_trait_object_mut(&mut self, _: &mut syn::TypeTraitObject) {
        self.found |= self.inside_opaque;
    }

    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        self.found |= self.inside_opaque && self.inside_call && reference.lifetime.is_none();
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
        self.found |= self.inside_opaque && self.inside_call && lifetime.ident == "_";
    }

    fn visit_bound_lifetimes_mut(&mut self, _: &mut syn::BoundLifetimes) {
        self.found |= self.inside_opaque;
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn returned(text: &str) -> Returned {
        Returned::of(&syn::parse_str(text).unwrap())
    }

    fn shown(tokens: &impl ToTokens) -> String {
        tokens.to_token_stream().to_string().replace(' ', "")
    }

    #[test]
    fn opaque_types_are_left_to_inference() {
        assert_eq!(shown(&returned("Result<impl A + B, E>").annotation()), "Result<_,E>");
        assert_eq!(shown(&returned("&'a mut T").annotation()), "&'amutT");
        assert_eq!(shown(&returned("()").annotation()), "()");
        assert!(matches!(returned("(!)"), Returned::Never));
    }

    #[test]
    fn what_only_compiles_in_place_is_seen() {
        for text in
            ["impl Fn(&str) -> &str", "impl for<'a> A<'a>", "Option<impl Iterator<Item = Box<dyn A>>>"]
        {
            assert!(returned(text).needs_place(), "{text}");
        }
        for text in ["impl Fn(u8) -> u8", "Box<dyn Fn(&str)>", "impl Iterator<Item = &'a str>", "impl A + '_"]
        {
            assert!(!returned(text).needs_place(), "{text}");
        }
    }

    #[test]
    fn fields_are_counted_where_they_show() {
        let cases = [
            ("(A, B)", Some(2)),
            ("std::result::Result<(A, B, C), E>", Some(3)),
            ("io::Result<(A,)>", Some(1)),
            ("Option<(A, B)>", Some(0)),
            ("Vec<(A, B)>", Some(0)),
            ("Result<u8, E>", Some(0)),
            ("&(A, B)", Some(2)),
            ("Alias", None),
            ("Result<Alias, E>", None),
            ("Self", None),
        ];
        for (text, expected) in cases {
            assert_eq!(returned(text).fields(), expected, "{text}");
        }
    }

    #[test]
    fn the_output_of_a_future_is_found() {
        let output = |text| returned(text).future_output().map(|output| shown(&output));
        assert_eq!(output("Pin<Box<dyn Future<Output = u8> + Send + 'a>>").as_deref(), Some("u8"));
        assert_eq!(output("impl ::core::future::Future<Output = ()>").as_deref(), Some("()"));
        assert_eq!(output("Box<dyn Future<Output = u8>>"), None);
        assert_eq!(output("u8"), None);
    }
}
