//! `#[task]` on an `impl` block: it is handed on to the methods.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, ImplItem, ImplItemFn, ItemImpl, Token};

use crate::complaints::Complaints;
use crate::nearest::hint;
use crate::parse::TaskOptions;

/// Whether the item is an `impl` block.
pub(crate) fn is_impl_block(item: &TokenStream) -> bool {
    let peek = |input: ParseStream| {
        input.call(Attribute::parse_outer)?;
        let found = input.peek(Token![impl]) || input.peek(Token![unsafe]) && input.peek2(Token![impl]);
        input.parse::<TokenStream>()?;
        Ok(found)
    };
    peek.parse2(item.clone()).unwrap_or_default()
}

/// Puts the attribute on each method that can be recorded, is not skipped, and has no attribute of its own.
pub(crate) fn hand_on(options: &TaskOptions, mut block: ItemImpl, complaints: &mut Complaints) -> ItemImpl {
    only_shared(options, complaints);
    skipped_exist(&options.skip, &block, complaints);
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item
            && is_eligible(method, options)
        {
            method.attrs.insert(0, attribute(options, method.sig.ident.span()));
        }
    }
    block
}

/// Complains about options that name something of one function.
fn only_shared(options: &TaskOptions, complaints: &mut Complaints) {
    let TaskOptions { name, output, outputs, skip_all, .. } = options;
    let outputs = outputs.as_ref().and_then(|outputs| outputs.first());
    let texts = [("name", name.as_ref()), ("output", output.as_ref()), ("outputs", outputs)];
    for (option, text) in texts {
        if let Some(text) = text {
            complaints.at(text, format!("`{option}` belongs to one function: put it on the method"));
        }
    }
    for (option, shown) in options.extras.of_one_function() {
        complaints.at(shown, format!("`{option}` belongs to one function: put it on the method"));
    }
    if let Some(name) = options.redact.first() {
        complaints.at(name, "`redact` belongs to one function: put it on the method");
    }
    if let Some(word) = skip_all {
        complaints.at(word, "`skip_all` belongs to one function: put it on the method");
    }
}

fn skipped_exist(skip: &[Ident], block: &ItemImpl, complaints: &mut Complaints) {
    let names: Vec<String> = methods(block).map(|method| method.sig.ident.to_string()).collect();
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    for (position, name) in skip.iter().enumerate() {
        let word = name.to_string();
        if skip[..position].contains(name) {
            complaints.at(name, format!("`{word}` is skipped twice"));
        } else if !words.contains(&word.as_str()) {
            complaints.at(name, format!("`{word}` is no method of this block{}", hint(&word, &words)));
        }
    }
}

fn methods(block: &ItemImpl) -> impl Iterator<Item = &ImplItemFn> {
    block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    })
}

fn is_eligible(method: &ImplItemFn, options: &TaskOptions) -> bool {
    let has_own = method.attrs.iter().any(is_task);
    method.sig.constness.is_none() && !has_own && !options.skip.contains(&method.sig.ident)
}

fn is_task(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "task")
}

/// The attribute for one method, shown at its name.
fn attribute(options: &TaskOptions, span: Span) -> Attribute {
    let span = Span::mixed_site().located_at(span);
    let level = options.level.as_ref().map(|level| {
        let word = Ident::new(&level.to_string().to_lowercase(), level.span());
        quote_spanned!(span=> level = #word,)
    });
    let subtype = options.extras.subtype.iter().map(|subtype| quote_spanned!(span=> subtype = #subtype,));
    let tags = &options.extras.tags;
    let tags = (!tags.is_empty()).then(|| quote_spanned!(span=> tags(#(#tags),*),));
    let path = options.crate_path.as_ref();
    let own_path = path.map(|path| quote_spanned!(span=> crate = #path,));
    let root = path.map_or_else(|| quote_spanned!(span=> ::telemetry), ToTokens::to_token_stream);
    syn::parse_quote_spanned!(span=> #[#root::task(#level #(#subtype)* #tags #own_path)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed_on(options: &str, block: &str) -> (String, Vec<String>) {
        let mut complaints = Complaints::default();
        let options = TaskOptions::parse(options.parse().unwrap(), &mut complaints);
        let block = hand_on(&options, syn::parse_str(block).unwrap(), &mut complaints);
        (block.to_token_stream().to_string().replace(' ', ""), complaints.messages())
    }

    #[test]
    fn methods_get_the_attribute() {
        let block =
            "impl A { const X: u8 = 1; fn a() {} const fn b() {} #[task(name = \"x\")] fn c() {} fn d() {} }";
        let (text, messages) = handed_on("level = data, skip(d), crate = crate::t", block);
        assert_eq!(messages, Vec::<String>::new());
        let expected = "implA{constX:u8=1;#[crate::t::task(level=data,crate=crate::t,)]fna(){}constfnb(){}\
                        #[task(name=\"x\")]fnc(){}fnd(){}}";
        assert_eq!(text, expected);
    }

    #[test]
    fn options_of_one_function_are_refused() {
        let messages = handed_on("name = \"n\", skip_all, skip(ad)", "impl A { fn add() {} }").1;
        assert_eq!(
            messages,
            [
                "`name` belongs to one function: put it on the method",
                "`skip_all` belongs to one function: put it on the method",
                "`ad` is no method of this block; did you mean `add`?",
            ]
        );
    }

    #[test]
    fn impl_blocks_are_recognized() {
        let is = |text: &str| is_impl_block(&text.parse().unwrap());
        assert!(is("#[x] impl<T> A for B<T> {}") && is("unsafe impl A for B {}"));
        assert!(!is("unsafe fn a() {}") && !is("struct A;"));
    }
}
