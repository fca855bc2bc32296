//! The arguments of a function: what they are called, and which values are found in them.

use proc_macro2::Span;
use quote::format_ident;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, FieldPat, FnArg, Ident, Pat, PatType, Signature, Token};

/// An argument other than `self`.
pub(crate) struct Argument {
    /// Its name, or one of ours if a pattern stands in its place.
    pub(crate) ident: Ident,
    pub(crate) mutability: Option<Token![mut]>,
    /// What stands in place of a name, unless that is only `_`.
    pub(crate) pattern: Option<Pat>,
    /// The names that it binds.
    pub(crate) names: Vec<Ident>,
}

impl Argument {
    fn read(position: usize, typed: &PatType) -> Self {
        let ours = || format_ident!("__argument_{position}", span = Span::mixed_site());
        match &*typed.pat {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Self {
                ident: name.ident.clone(),
                mutability: name.mutability,
                pattern: None,
                names: vec![name.ident.clone()],
            },
            Pat::Wild(_) => Self { ident: ours(), mutability: None, pattern: None, names: Vec::new() },
            pattern => {
                let names = by_reference(pattern, &[]).1;
                let mutability = reference_to_mutable(pattern);
                Self { ident: ours(), mutability, pattern: Some(pattern.clone()), names }
            }
        }
    }

    /// The pattern as it matches a reference to the argument, without the skipped names; and the names left in it.
    pub(crate) fn by_reference(&self, skipped: &[Ident]) -> Option<(Pat, Vec<Ident>)> {
        self.pattern.as_ref().map(|pattern| by_reference(pattern, skipped))
    }
}

/// All arguments but `self`, and but those that another configuration may take away: these have no name that holds
/// in every build, and the body finds them by itself.
pub(crate) fn read(signature: &Signature) -> Vec<Argument> {
    let arguments = signature.inputs.iter().enumerate().filter_map(|(position, input)| match input {
        FnArg::Typed(typed) if !typed.attrs.iter().any(is_configuration) => Some((position, typed)),
        _ => None,
    });
    arguments.map(|(position, typed)| Argument::read(position, typed)).collect()
}

/// Writes the names of the arguments into the signature, in place of patterns, and takes `mut` away. Lints that were
/// set for one argument are returned: they belong to the function now, since its name is bound again further inside.
pub(crate) fn rename(signature: &mut Signature, arguments: &[Argument]) -> Vec<Attribute> {
    let mut lints = Vec::new();
    let mut arguments = arguments.iter();
    for input in &mut signature.inputs {
        let FnArg::Typed(typed) = input else { continue };
        if typed.attrs.iter().any(is_configuration) {
            continue;
        }
        let Some(argument) = arguments.next() else { break };
        let ident = &argument.ident;
        *typed.pat = syn::parse_quote!(#ident);
        lints.extend(typed.attrs.extract_if(.., |attribute| is_lint(attribute)));
    }
    lints
}

fn is_configuration(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}

fn is_lint(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|word| attribute.path().is_ident(word))
}

fn by_reference(pattern: &Pat, skipped: &[Ident]) -> (Pat, Vec<Ident>) {
    let mut pattern = pattern.clone();
    let mut visitor = ByReference { skipped, names: Vec::new() };
    visitor.visit_pat_mut(&mut pattern);
    (pattern, visitor.names)
}

/// The `mut` of a `ref mut` in the pattern: what it refers to has to be `mut` itself.
fn reference_to_mutable(pattern: &Pat) -> Option<Token![mut]> {
    struct Search(Option<Token![mut]>);
    impl VisitMut for Search {
        fn visit_pat_ident_mut(&mut self, name: &mut syn::PatIdent) {
            self.0 = self.0.or(name.by_ref.and(name.mutability));
            visit_mut::visit_pat_ident_mut(self, name);
        }
    }
    let mut search = Search(None);
    search.visit_pat_mut(&mut pattern.clone());
    search.0
}

/// Takes `&`, `ref` and `mut` out of a pattern: matched with a reference, it then binds references everywhere.
struct ByReference<'a> {
    skipped: &'a [Ident],
    names: Vec<Ident>,
}

impl VisitMut for ByReference<'_> {
    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        while let Pat::Reference(reference) = pattern {
            *pattern = (*reference.pat).clone();
        }
        if let Pat::Ident(name) = pattern {
            let plain = name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none();
            if plain && is_constant(&name.ident) {
                return;
            }
            name.by_ref = None;
            name.mutability = None;
            if self.skipped.contains(&name.ident) {
                let inner = name.subpat.take().map(|(_, inner)| *inner);
                *pattern = inner.unwrap_or_else(|| syn::parse_quote!(_));
            } else {
                self.names.push(name.ident.clone());
            }
        }
        visit_mut::visit_pat_mut(self, pattern);
    }

    fn visit_field_pat_mut(&mut self, field: &mut FieldPat) {
        visit_mut::visit_field_pat_mut(self, field);
        if field.colon_token.is_none() && matches!(*field.pat, Pat::Wild(_)) {
            field.colon_token = Some(Token![:](Span::mixed_site()));
        }
    }

    /// Expressions and types inside a pattern bind nothing.
    fn visit_expr_mut(&mut self, _: &mut syn::Expr) {}
}

/// Whether a name inside a pattern rather means a unit struct or a constant.
fn is_constant(ident: &Ident) -> bool {
    ident.to_string().starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn signature(text: &str) -> Signature {
        syn::parse_str(text).unwrap()
    }

    #[track_caller]
    fn referenced(pattern: &str, skipped: &[&str], expected: &str, names: &[&str]) {
        let signature = signature(&format!("fn f({pattern}: T)"));
        let skipped: Vec<Ident> = skipped.iter().map(|name| format_ident!("{name}")).collect();
        let (pattern, found) = read(&signature)[0].by_reference(&skipped).unwrap();
        let expected: proc_macro2::TokenStream = expected.parse().unwrap();
        assert_eq!(pattern.to_token_stream().to_string(), expected.to_string());
        assert_eq!(found, names);
    }

    #[test]
    fn patterns_bind_references() {
        referenced("(x, mut y)", &[], "(x, y)", &["x", "y"]);
        referenced("&(ref a, &b)", &[], "(a, b)", &["a", "b"]);
        referenced("Point { x, y: Some(z), .. }", &["x"], "Point { x: _, y: Some(z), .. }", &["z"]);
        referenced("all @ [first, ..]", &["all"], "[first, ..]", &["first"]);
        referenced("(Unit, _, x)", &[], "(Unit, _, x)", &["x"]);
    }

    #[test]
    fn patterns_get_a_name_in_the_signature() {
        let mut signature = signature("fn f(&self, mut a: A, (b, c): B, _: C, #[allow(x)] d: D)");
        let arguments = read(&signature);
        let lints = rename(&mut signature, &arguments);
        let expected = "fn f (& self , a : A , __argument_2 : B , __argument_3 : C , d : D)";
        assert_eq!(signature.to_token_stream().to_string(), expected);
        assert_eq!(lints.len(), 1);
        assert!(arguments[0].mutability.is_some());
        assert_eq!(arguments[1].names, ["b", "c"]);
        assert!(arguments[2].names.is_empty());
    }

    #[test]
    fn an_argument_of_some_configurations_stays_outside() {
        let mut signature = signature("fn f(#[cfg(unix)] a: A, b: B)");
        let arguments = read(&signature);
        assert_eq!(arguments.len(), 1);
        rename(&mut signature, &arguments);
        assert_eq!(signature.to_token_stream().to_string(), "fn f (# [cfg (unix)] a : A , b : B)");
    }
}
