//! Options of a task that say more than its arguments do: read, checked and printed here, one kind beside the other.
//!
//! Their expressions are evaluated before the body, only where the call is recorded, with the arguments by reference.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Token};

use crate::complaints::Complaints;
use crate::parse;

/// `name = expression`.
pub(crate) struct Pair {
    name: Ident,
    value: Expr,
}

impl Parse for Pair {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected `name = value`"));
        }
        let name = input.call(Ident::parse_any)?;
        if !input.peek(Token![=]) {
            return Err(syn::Error::new(name.span(), format!("`{name}` needs a value: `{name} = …`")));
        }
        input.parse::<Token![=]>()?;
        let value = input.parse().map_err(|_| input.error("expected a value"))?;
        Ok(Self { name, value })
    }
}

/// What is said about a task beside its arguments.
#[derive(Default)]
pub(crate) struct Extras {
    pub(crate) capture: Vec<Pair>,
    pub(crate) metadata: Vec<Pair>,
    pub(crate) subtype: Option<LitStr>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) group: Option<Expr>,
    pub(crate) parent: Option<Expr>,
    pub(crate) depends_on: Option<Expr>,
}

impl Extras {
    /// Reads the option `key`.
    pub(crate) fn read(
        &mut self,
        key: &Ident,
        input: ParseStream,
        complaints: &mut Complaints,
    ) -> syn::Result<()> {
        match key.to_string().as_str() {
            "capture" => self.capture = pairs(key, input, complaints)?,
            "metadata" => self.metadata = pairs(key, input, complaints)?,
            "subtype" => self.subtype = Some(parse::name(key, input)?),
            "tags" => self.tags = parse::names(key, input, complaints)?,
            "group" => self.group = Some(expression(key, input)?),
            "parent" => self.parent = Some(expression(key, input)?),
            _ => self.depends_on = Some(expression(key, input)?),
        }
        Ok(())
    }

    /// Complains about what cannot be: `self` in an expression, a name that an argument has, a tag that comes twice.
    pub(crate) fn check(&self, used: &[&Ident], complaints: &mut Complaints) {
        for expression in self.expressions() {
            if let Some(word) = find(expression.to_token_stream(), &|word| word == "self") {
                complaints
                    .at(word, "`self` is not at hand before the body; use `current_task()` inside of it");
            }
        }
        for pair in self.capture.iter().filter(|pair| used.contains(&&pair.name)) {
            complaints.at(&pair.name, format!("`{}` is captured already, as an argument", pair.name));
        }
        for (position, tag) in self.tags.iter().enumerate() {
            if self.tags[..position].iter().any(|earlier| earlier.value() == tag.value()) {
                complaints.at(tag, format!("the tag `{}` is given twice", tag.value()));
            }
        }
    }

    fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let pairs = self.capture.iter().chain(&self.metadata).map(|pair| &pair.value);
        pairs.chain([&self.group, &self.parent, &self.depends_on].into_iter().flatten())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.expressions().next().is_none() && self.subtype.is_none() && self.tags.is_empty()
    }

    /// Whether an expression needs this argument.
    pub(crate) fn mentions(&self, name: &Ident) -> bool {
        self.expressions().any(|expression| {
            let tokens = expression.to_token_stream();
            find(tokens.clone(), &|word| word == name).is_some()
                || is_formatted(tokens, &name.unraw().to_string())
        })
    }

    /// The options that belong to one function, each with a token to show.
    pub(crate) fn of_one_function(&self) -> Vec<(&'static str, TokenStream)> {
        let pairs = |list: &[Pair]| list.first().map(|pair| pair.name.to_token_stream());
        let found = [
            ("capture", pairs(&self.capture)),
            ("metadata", pairs(&self.metadata)),
            ("group", self.group.as_ref().map(ToTokens::to_token_stream)),
            ("parent", self.parent.as_ref().map(ToTokens::to_token_stream)),
            ("depends_on", self.depends_on.as_ref().map(ToTokens::to_token_stream)),
        ];
        found.into_iter().filter_map(|(option, shown)| Some((option, shown?))).collect()
    }

    /// Statements that write everything with `__encoder`, and the context to start in as their value.
    pub(crate) fn statements(&self, private: &TokenStream) -> TokenStream {
        let named = |pair: &Pair, method: &str| {
            let (name, value) = (pair.name.unraw().to_string(), &pair.value);
            let method = Ident::new(method, Span::mixed_site());
            quote_spanned! {Span::mixed_site()=>
                __encoder.#method(#name, |__value| #private::capture!(__value, &(#value)));
            }
        };
        let captured = self.capture.iter().map(|pair| named(pair, "used_named"));
        let metadata = self.metadata.iter().map(|pair| named(pair, "metadata"));
        let subtype = self.subtype.iter().map(|text| text_of(private, "Subtype", text));
        let tags = self.tags.iter().map(|text| text_of(private, "Tag", text));
        let group = self.group.iter().map(|group| {
            quote_spanned!(Span::mixed_site()=> __encoder.display(#private::Field::Group, &(#group));)
        });
        let dependencies = self.depends_on.iter().map(|tasks| {
            quote_spanned! {Span::mixed_site()=>
                #private::Dependencies::each(#tasks, |__task| {
                    __encoder.display(#private::Field::Dependency, &__task);
                });
            }
        });
        let parent = self.parent.as_ref().map_or_else(
            || quote_spanned!(Span::mixed_site()=> ::core::option::Option::None::<#private::Context>),
            |parent| quote_spanned!(Span::mixed_site()=> #private::Parent::context(#parent)),
        );
        let statements = captured.chain(metadata).chain(subtype).chain(tags).chain(group).chain(dependencies);
        quote_spanned!(Span::mixed_site()=> #(#statements)* #parent)
    }
}

fn text_of(private: &TokenStream, field: &str, text: &LitStr) -> TokenStream {
    let field = Ident::new(field, Span::mixed_site());
    quote_spanned!(Span::mixed_site()=> __encoder.text(#private::Field::#field, #text);)
}

/// `capture(a = expression, b = expression)`
fn pairs(key: &Ident, input: ParseStream, complaints: &mut Complaints) -> syn::Result<Vec<Pair>> {
    let group: Group = parse::list(key, input, "(name = value)")?;
    let pairs = Punctuated::<Pair, Token![,]>::parse_terminated.parse2(group.stream())?;
    let pairs: Vec<Pair> = pairs.into_iter().collect();
    for (position, pair) in pairs.iter().enumerate() {
        if pairs[..position].iter().any(|earlier| earlier.name == pair.name) {
            complaints.at(&pair.name, format!("`{key}` has two values for `{}`", pair.name));
        }
    }
    Ok(pairs)
}

/// `group = expression`
fn expression(key: &Ident, input: ParseStream) -> syn::Result<Expr> {
    parse::equals(key, input, "…")?;
    let wrong = input.error(format!("`{key}` needs a value: `{key} = …`"));
    input.parse().map_err(|_| wrong)
}

/// The first of these words in the tokens; the name of a field or method is none.
fn find(tokens: TokenStream, wanted: &impl Fn(&Ident) -> bool) -> Option<Ident> {
    // A second dot in a row makes a range.
    let mut dots = 0;
    tokens.into_iter().find_map(|tree| {
        let is_member = dots == 1;
        dots = if matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '.') { dots + 1 } else { 0 };
        match tree {
            TokenTree::Ident(ident) if !is_member => Some(ident).filter(|ident| wanted(ident)),
            TokenTree::Group(group) => find(group.stream(), wanted),
            _ => None,
        }
    })
}

/// Whether a text in the tokens formats this name, as `"{name:?}"` does.
fn is_formatted(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            text.starts_with(['"', 'r'])
                && ['}', ':'].iter().any(|end| text.contains(&format!("{{{name}{end}")))
        }
        TokenTree::Group(group) => is_formatted(group.stream(), name),
        _ => false,
    })
}
