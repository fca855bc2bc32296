//! First stage: the function that the attribute stands on.
//!
//! Only what comes before the body is taken apart. The body stays the tokens that it was, so that syntax which is
//! newer than our parser passes through.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{AttrStyle, Attribute, Signature, Token, Visibility};

/// A function or method with a body.
#[derive(Clone)]
pub(crate) struct Function {
    /// Those before the function and those at the start of its body.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) defaultness: Option<TokenTree>,
    pub(crate) signature: Signature,
    /// The braces and what is in them, without attributes.
    pub(crate) body: Group,
}

impl Function {
    /// Whether one of its attributes is this single word.
    pub(crate) fn attribute(&self, word: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.path().is_ident(word))
    }
}

impl Parse for Function {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let defaultness = default_word(input)?;
        expect_function(input)?;
        let signature: Signature = input.parse()?;
        if input.peek(Token![;]) {
            let message = "there is no body to record here; put the attribute on the implementations";
            return Err(syn::Error::new(signature.ident.span(), message));
        }
        let braces = braces(input)?;
        let (inner, stream) = inner_attributes.parse2(braces.stream())?;
        attributes.extend(inner);
        let mut body = Group::new(Delimiter::Brace, stream);
        body.set_span(braces.span());
        Ok(Self { attributes, visibility, defaultness, signature, body })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let inner = |attribute: &&Attribute| matches!(attribute.style, AttrStyle::Inner(_));
        tokens.append_all(self.attributes.iter().filter(|attribute| !inner(attribute)));
        self.visibility.to_tokens(tokens);
        self.defaultness.to_tokens(tokens);
        self.signature.to_tokens(tokens);
        let mut stream = TokenStream::new();
        stream.append_all(self.attributes.iter().filter(inner));
        stream.extend(self.body.stream());
        let mut body = Group::new(Delimiter::Brace, stream);
        body.set_span(self.body.span());
        body.to_tokens(tokens);
    }
}

/// The `default` of a method that may be specialized.
fn default_word(input: ParseStream) -> syn::Result<Option<TokenTree>> {
    let word = input.fork().parse::<syn::Ident>();
    if word.is_ok_and(|word| word == "default") { input.parse().map(Some) } else { Ok(None) }
}

fn expect_function(input: ParseStream) -> syn::Result<()> {
    let ahead = input.fork();
    let other = ahead.peek(Token![const]) && !starts_const_function(&ahead);
    let other =
        other || input.peek(Token![unsafe]) && (input.peek2(Token![impl]) || input.peek2(Token![trait]));
    let words = [
        input.peek(Token![const]),
        input.peek(Token![async]),
        input.peek(Token![unsafe]),
        input.peek(Token![extern]) && !input.peek2(Token![crate]),
        input.peek(Token![fn]),
    ];
    if other || !words.contains(&true) {
        return Err(input.error("this attribute stands on a function"));
    }
    Ok(())
}

fn starts_const_function(ahead: ParseStream) -> bool {
    let words = (ahead.peek2(Token![fn]), ahead.peek2(Token![async]), ahead.peek2(Token![unsafe]));
    words.0 || words.1 || words.2 || ahead.peek2(Token![extern])
}

/// The body; a `macro_rules!` that was given it as a block leaves an invisible group around it.
fn braces(input: ParseStream) -> syn::Result<Group> {
    let expected = input.error("expected the body of the function");
    let mut tree: TokenTree = input.parse()?;
    loop {
        let TokenTree::Group(group) = tree else { return Err(expected) };
        match group.delimiter() {
            Delimiter::Brace => return Ok(group),
            Delimiter::None => tree = group.stream().into_iter().next().ok_or_else(|| expected.clone())?,
            _ => return Err(expected),
        }
    }
}

fn inner_attributes(input: ParseStream) -> syn::Result<(Vec<Attribute>, TokenStream)> {
    Ok((input.call(Attribute::parse_inner)?, input.parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn same(text: &str) {
        let tokens: TokenStream = text.parse().unwrap();
        let function: Function = syn::parse2(tokens.clone()).unwrap();
        let plain = |tokens: TokenStream| tokens.to_string().replace(' ', "");
        assert_eq!(plain(function.to_token_stream()), plain(tokens));
    }

    #[track_caller]
    fn refused(text: &str, message: &str) {
        let error = syn::parse_str::<Function>(text).err().unwrap();
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn what_is_read_is_printed_again() {
        same("fn f () { }");
        same(
            "#[doc = \"x\"] pub(crate) async unsafe fn f < 'a , T > (& 'a self , (x , _) : T) -> ! where T : A { 1 }",
        );
        same("extern \"C\" fn f (mut self : Box < Self >) -> impl Fn (& str) -> & str { #![x] #![y] body }");
        same("default fn f () { syntax ~ of the @ future }");
        same("const unsafe fn f () { }");
    }

    #[test]
    fn what_is_no_function_is_refused() {
        let no_function = "this attribute stands on a function";
        for text in ["struct A;", "pub enum A {}", "impl A {}", "unsafe impl A for B {}", "mod a {}"] {
            refused(text, no_function);
        }
        refused("const A: u8 = 1;", no_function);
        refused("extern crate a;", no_function);
        let no_body = "there is no body to record here; put the attribute on the implementations";
        refused("fn f(&self);", no_body);
    }
}
