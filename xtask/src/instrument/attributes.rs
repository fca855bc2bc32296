//! Puts the attribute before functions in source text, everything else staying byte for byte as it was.

use std::fs;
use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, ItemFn, Signature, TraitItemFn};

use crate::Outcome;

const ATTRIBUTE: &str = "#[::telemetry::task] ";

/// Adds it to all files below a folder, and answers how many functions have it now.
pub(crate) fn add_to_folder(folder: &Path) -> Outcome<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            count += add_to_folder(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let (changed, found) = add(&text)?;
            fs::write(&path, changed)?;
            count += found;
        }
    }
    Ok(count)
}

/// The text with the attribute before each eligible function, and how many these are.
fn add(text: &str) -> Outcome<(String, usize)> {
    let mut search = Search::default();
    search.visit_file(&syn::parse_file(text)?);
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    search.places.sort_unstable();
    for (line, column) in search.places.iter().rev() {
        let line = &mut lines[line - 1];
        let byte = line.char_indices().nth(*column).map_or(line.len(), |(byte, _)| byte);
        line.insert_str(byte, ATTRIBUTE);
    }
    Ok((lines.concat(), search.places.len()))
}

/// Where functions begin, behind their attributes.
#[derive(Default)]
struct Search {
    places: Vec<(usize, usize)>,
}

impl Search {
    fn take(&mut self, attributes: &[Attribute], signature: &Signature, start: proc_macro2::Span) {
        let is_test = attributes.iter().any(|attribute| attribute.path().is_ident("test"));
        if signature.constness.is_none() && signature.variadic.is_none() && !is_test {
            self.places.push((start.start().line, start.start().column));
        }
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        let start = match &function.vis {
            syn::Visibility::Inherited => function.sig.span(),
            visibility => visibility.span(),
        };
        self.take(&function.attrs, &function.sig, start);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast ImplItemFn) {
        let start = match (&method.vis, &method.modifiers.defaultness) {
            (syn::Visibility::Inherited, None) => method.sig.span(),
            (syn::Visibility::Inherited, Some(word)) => word.span(),
            (visibility, _) => visibility.span(),
        };
        self.take(&method.attrs, &method.sig, start);
        visit::visit_impl_item_fn(self, method);
    }

    fn visit_trait_item_fn(&mut self, method: &'ast TraitItemFn) {
        if method.default.is_some() {
            self.take(&method.attrs, &method.sig, method.sig.span());
        }
        visit::visit_trait_item_fn(self, method);
    }

    /// Functions inside of constants run inside the compiler, wherever they are written.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_with_a_body_get_the_attribute() {
        let text = "/// Docs.\npub fn a() { fn ä() {} }\nconst fn b() {}\ntrait T { fn c(); fn d() {} }\n\
                    impl A {\n    #[inline]\n    unsafe fn e(&self) {}\n}\n#[test]\nfn f() {}\n";
        let (changed, count) = add(text).expect("it parses");
        assert_eq!(count, 4);
        assert_eq!(
            changed,
            "/// Docs.\n#[::telemetry::task] pub fn a() { #[::telemetry::task] fn ä() {} }\nconst fn b() {}\n\
             trait T { fn c(); #[::telemetry::task] fn d() {} }\n\
             impl A {\n    #[inline]\n    #[::telemetry::task] unsafe fn e(&self) {}\n}\n#[test]\nfn f() {}\n"
        );
    }
}
