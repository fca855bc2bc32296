//! First stage: the options between the parentheses of an attribute.
//!
//! A mistake costs only its own option: reading goes on behind the next comma.

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, LitStr, Path, Token};

use crate::complaints::Complaints;
use crate::extras::Extras;
use crate::nearest::{hint, listed};

/// The words that `level` may have, and how the runtime calls them.
const LEVELS: [(&str, &str); 5] = [
    ("off", "Off"),
    ("lightweight", "Lightweight"),
    ("data", "Data"),
    ("telemetry", "Telemetry"),
    ("full", "Full"),
];

/// The options of `#[task]`.
#[derive(Default)]
pub(crate) struct TaskOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) output: Option<LitStr>,
    pub(crate) outputs: Option<Vec<LitStr>>,
    pub(crate) skip: Vec<Ident>,
    pub(crate) skip_all: Option<Ident>,
    pub(crate) redact: Vec<Ident>,
    pub(crate) extras: Extras,
    /// The runtime's name of the level.
    pub(crate) level: Option<Ident>,
    pub(crate) crate_path: Option<Path>,
}

impl TaskOptions {
    const KNOWN: [&str; 15] = [
        "name",
        "output",
        "outputs",
        "skip",
        "skip_all",
        "redact",
        "capture",
        "level",
        "subtype",
        "tags",
        "metadata",
        "group",
        "parent",
        "depends_on",
        "crate",
    ];

    /// Those of them that `#[forward]` has.
    const OF_FORWARD: [&str; 8] =
        ["name", "output", "outputs", "skip", "skip_all", "metadata", "level", "crate"];

    pub(crate) fn parse(tokens: TokenStream, complaints: &mut Complaints) -> Self {
        Self::parse_known(tokens, &Self::KNOWN, complaints)
    }

    /// Reads the options of `#[forward]`.
    pub(crate) fn parse_forward(tokens: TokenStream, complaints: &mut Complaints) -> Self {
        Self::parse_known(tokens, &Self::OF_FORWARD, complaints)
    }

    fn parse_known(tokens: TokenStream, known: &[&str], complaints: &mut Complaints) -> Self {
        let mut options = Self::default();
        each_option(tokens, known, complaints, |key, input, complaints| options.read(key, input, complaints));
        options
    }

    fn read(&mut self, key: &Ident, input: ParseStream, complaints: &mut Complaints) -> syn::Result<()> {
        match key.to_string().as_str() {
            "name" => self.name = Some(name(key, input)?),
            "output" => self.output = Some(name(key, input)?),
            "outputs" => self.outputs = Some(names(key, input, complaints)?),
            "skip" => self.skip = idents(key, input, complaints)?,
            "skip_all" => self.skip_all = Some(key.clone()),
            "redact" => self.redact = idents(key, input, complaints)?,
            "level" => self.level = Some(level(key, input)?),
            "capture" | "subtype" | "tags" | "metadata" | "group" | "parent" | "depends_on" => {
                self.extras.read(key, input, complaints)?;
            }
            _ => self.crate_path = Some(path(key, input)?),
        }
        Ok(())
    }
}

/// The options of `#[workflow]`.
#[derive(Default)]
pub(crate) struct WorkflowOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) campaign: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) subtype: Option<LitStr>,
    pub(crate) crate_path: Option<Path>,
}

impl WorkflowOptions {
    const KNOWN: [&str; 5] = ["name", "campaign", "description", "subtype", "crate"];

    pub(crate) fn parse(tokens: TokenStream, complaints: &mut Complaints) -> Self {
        let mut options = Self::default();
        let tokens = name_for_leading_text(tokens);
        each_option(tokens, &Self::KNOWN, complaints, |key, input, _| options.read(key, input));
        options
    }

    fn read(&mut self, key: &Ident, input: ParseStream) -> syn::Result<()> {
        match key.to_string().as_str() {
            "name" => self.name = Some(name(key, input)?),
            "campaign" => self.campaign = Some(name(key, input)?),
            "description" => self.description = Some(text(key, input)?),
            "subtype" => self.subtype = Some(name(key, input)?),
            _ => self.crate_path = Some(path(key, input)?),
        }
        Ok(())
    }
}

/// The options of `#[model]`.
#[derive(Default)]
pub(crate) struct ModelOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) skip: Vec<Ident>,
    pub(crate) crate_path: Option<Path>,
}

impl ModelOptions {
    const KNOWN: [&str; 3] = ["name", "skip", "crate"];

    pub(crate) fn parse(tokens: TokenStream, complaints: &mut Complaints) -> Self {
        let mut options = Self::default();
        each_option(tokens, &Self::KNOWN, complaints, |key, input, complaints| {
            match key.to_string().as_str() {
                "name" => options.name = Some(name(key, input)?),
                "skip" => options.skip = fields(key, input, complaints)?,
                _ => options.crate_path = Some(path(key, input)?),
            }
            Ok(())
        });
        options
    }
}

/// Turns `"text", …` into `name = "text", …`, with the spans of the text.
fn name_for_leading_text(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.clone().into_iter();
    let Some(TokenTree::Literal(literal)) = trees.next() else { return tokens };
    let span = literal.span();
    let rest: TokenStream = trees.collect();
    quote::quote_spanned!(span=> name = #literal #rest)
}

/// Reads `key …, key …` and hands each known key that comes for the first time to `read`.
fn each_option(
    tokens: TokenStream,
    known: &[&str],
    complaints: &mut Complaints,
    mut read: impl FnMut(&Ident, ParseStream, &mut Complaints) -> syn::Result<()>,
) {
    let mut seen: Vec<Ident> = Vec::new();
    let parser = |input: ParseStream| {
        while !input.is_empty() {
            let outcome = option_key(input, known, &seen).and_then(|key| {
                let outcome = read(&key, input, complaints);
                seen.push(key);
                outcome.and_then(|()| end_of_option(input))
            });
            if let Err(error) = outcome {
                complaints.push(error);
            }
            skip_behind_comma(input)?;
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        complaints.push(error);
    }
}

fn option_key(input: ParseStream, known: &[&str], seen: &[Ident]) -> syn::Result<Ident> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error(format!("expected an option: one of {}", listed(known))));
    }
    let key = input.call(Ident::parse_any)?;
    let text = key.to_string();
    if !known.contains(&text.as_str()) {
        return Err(syn::Error::new(key.span(), format!("unknown option `{text}`{}", hint(&text, known))));
    }
    if seen.contains(&key) {
        return Err(syn::Error::new(key.span(), format!("option `{text}` is given twice")));
    }
    Ok(key)
}

fn end_of_option(input: ParseStream) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    Err(input.error("expected `,` and the next option, or the end"))
}

fn skip_behind_comma(input: ParseStream) -> syn::Result<()> {
    while !input.is_empty() {
        if input.parse::<Option<Token![,]>>()?.is_some() {
            break;
        }
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

/// Steps over `=`; with no value behind it, the complaint is about the key, which the user can see.
pub(crate) fn equals(key: &Ident, input: ParseStream, usage: &str) -> syn::Result<()> {
    let missing = || syn::Error::new(key.span(), format!("`{key}` needs a value: `{key} = {usage}`"));
    input.parse::<Option<Token![=]>>()?.ok_or_else(missing)?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(missing());
    }
    Ok(())
}

fn text(key: &Ident, input: ParseStream) -> syn::Result<LitStr> {
    equals(key, input, "\"…\"")?;
    if !input.peek(LitStr) {
        return Err(input.error(format!("`{key}` is a text in quotes")));
    }
    input.parse()
}

pub(crate) fn name(key: &Ident, input: ParseStream) -> syn::Result<LitStr> {
    let text = text(key, input)?;
    not_empty(&text)?;
    Ok(text)
}

fn not_empty(text: &LitStr) -> syn::Result<()> {
    if text.value().is_empty() {
        return Err(syn::Error::new(text.span(), "a name has at least one letter"));
    }
    Ok(())
}

fn level(key: &Ident, input: ParseStream) -> syn::Result<Ident> {
    equals(key, input, "\"data\"")?;
    let (word, span) = if input.peek(LitStr) {
        let text: LitStr = input.parse()?;
        (text.value(), text.span())
    } else if input.peek(Ident::peek_any) {
        let word = input.call(Ident::parse_any)?;
        (word.to_string(), word.span())
    } else {
        return Err(input.error("`level` is a word"));
    };
    let found = LEVELS.iter().find(|(known, _)| *known == word);
    let (_, variant) = found.ok_or_else(|| syn::Error::new(span, unknown_level(&word)))?;
    Ok(Ident::new(variant, span))
}

fn unknown_level(word: &str) -> String {
    let levels = LEVELS.map(|(known, _)| known);
    let near = crate::nearest::nearest(word, levels).map(|near| format!(", probably `{near}`"));
    format!("unknown level `{word}`: it is one of {}{}", listed(&levels), near.unwrap_or_default())
}

fn path(key: &Ident, input: ParseStream) -> syn::Result<Path> {
    equals(key, input, "path")?;
    let wrong = input.error("`crate` is a path, without quotes");
    input.call(Path::parse_mod_style).map_err(|_| wrong)
}

/// `outputs("a", "b")`, `tags("a", "b")`
pub(crate) fn names(
    key: &Ident,
    input: ParseStream,
    complaints: &mut Complaints,
) -> syn::Result<Vec<LitStr>> {
    let group = list(key, input, "(\"a\", \"b\")")?;
    let names =
        items(&group, complaints, "expected a name in quotes", |item| syn::parse2::<LitStr>(item).ok());
    for name in &names {
        not_empty(name)?;
    }
    Ok(names)
}

/// `skip(x, y)`, `redact(x, y)`
fn idents(key: &Ident, input: ParseStream, complaints: &mut Complaints) -> syn::Result<Vec<Ident>> {
    let group = list(key, input, "(x, y)")?;
    let parse = |item| Ident::parse_any.parse2(item).ok();
    Ok(items(&group, complaints, "expected the name of an argument", parse))
}

/// `skip(x, y)` of a struct
fn fields(key: &Ident, input: ParseStream, complaints: &mut Complaints) -> syn::Result<Vec<Ident>> {
    let group = list(key, input, "(x, y)")?;
    let parse = |item| Ident::parse_any.parse2(item).ok();
    Ok(items(&group, complaints, "expected the name of a field", parse))
}

pub(crate) fn list(key: &Ident, input: ParseStream, usage: &str) -> syn::Result<Group> {
    let wrong = || syn::Error::new(key.span(), format!("`{key}` has a list: `{key}{usage}`"));
    if !input.peek(syn::token::Paren) {
        return Err(wrong());
    }
    let group: Group = input.parse()?;
    if group.stream().is_empty() {
        return Err(wrong());
    }
    Ok(group)
}

/// What stands between the commas of a list; what cannot be read is complained about and left out.
fn items<T>(
    group: &Group,
    complaints: &mut Complaints,
    expected: &str,
    parse: impl Fn(TokenStream) -> Option<T>,
) -> Vec<T> {
    let mut found = Vec::new();
    let mut item: Vec<TokenTree> = Vec::new();
    let comma = TokenTree::from(proc_macro2::Punct::new(',', proc_macro2::Spacing::Alone));
    for tree in group.stream().into_iter().chain([comma]) {
        if !matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == ',') {
            item.push(tree);
            continue;
        }
        let Some(first) = item.first().cloned() else { continue };
        match parse(item.drain(..).collect()) {
            Some(value) => found.push(value),
            None => complaints.at(first, expected),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(text: &str) -> (TaskOptions, Vec<String>) {
        let mut complaints = Complaints::default();
        let options = TaskOptions::parse(text.parse().unwrap(), &mut complaints);
        (options, complaints.messages())
    }

    fn workflow(text: &str) -> (WorkflowOptions, Vec<String>) {
        let mut complaints = Complaints::default();
        let options = WorkflowOptions::parse(text.parse().unwrap(), &mut complaints);
        (options, complaints.messages())
    }

    #[track_caller]
    fn complains(text: &str, expected: &[&str]) {
        assert_eq!(task(text).1, expected, "for {text}");
    }

    #[test]
    fn every_option_is_read() {
        let (options, messages) =
            task(r#"name = "n", outputs("a", "b",), skip(x, y), skip_all, level = data, crate = crate::t,"#);
        assert_eq!(messages, Vec::<String>::new());
        assert_eq!(options.name.unwrap().value(), "n");
        assert_eq!(options.outputs.unwrap().iter().map(LitStr::value).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(options.skip, ["x", "y"]);
        assert!(options.skip_all.is_some());
        assert_eq!(options.level.unwrap(), "Data");
        assert_eq!(options.crate_path.unwrap().segments.len(), 2);
    }

    #[test]
    fn a_level_is_a_word_or_a_text() {
        assert_eq!(task("level = \"lightweight\"").0.level.unwrap(), "Lightweight");
        assert_eq!(task("level = off").0.level.unwrap(), "Off");
        let all = "`off`, `lightweight`, `data`, `telemetry`, `full`";
        complains("level = 3", &["`level` is a word"]);
        complains("level = loud", &[&format!("unknown level `loud`: it is one of {all}")]);
        complains("level = \"dat\"", &[&format!("unknown level `dat`: it is one of {all}, probably `data`")]);
    }

    #[test]
    fn no_options_are_no_mistake() {
        complains("", &[]);
        assert_eq!(workflow("").1, Vec::<String>::new());
    }

    #[test]
    fn all_mistakes_are_found_at_once() {
        complains(
            r#"nmae = "x", skip_all, skip_all, output, name = 5, level = "data" "x", ="#,
            &[
                "unknown option `nmae`; did you mean `name`?",
                "option `skip_all` is given twice",
                "`output` needs a value: `output = \"…\"`",
                "`name` is a text in quotes",
                "expected `,` and the next option, or the end",
                "expected an option: one of `name`, `output`, `outputs`, `skip`, `skip_all`, `redact`, `capture`, `level`, \
                 `subtype`, `tags`, `metadata`, `group`, `parent`, `depends_on`, `crate`",
            ],
        );
    }

    #[test]
    fn lists_report_each_wrong_item() {
        complains("outputs(a, \"b\", 3)", &["expected a name in quotes"; 2]);
        complains("skip(\"a\", b c)", &["expected the name of an argument"; 2]);
        complains("skip", &["`skip` has a list: `skip(x, y)`"]);
        complains("skip()", &["`skip` has a list: `skip(x, y)`"]);
        complains("outputs = \"a\"", &["`outputs` has a list: `outputs(\"a\", \"b\")`"]);
    }

    #[test]
    fn names_are_not_empty() {
        complains("name = \"\"", &["a name has at least one letter"]);
        complains("outputs(\"a\", \"\")", &["a name has at least one letter"]);
    }

    #[test]
    fn a_workflow_takes_its_name_first() {
        let (options, messages) = workflow(r#""demo", campaign = "c", description = "", subtype = "s""#);
        assert_eq!(messages, Vec::<String>::new());
        assert_eq!(options.name.unwrap().value(), "demo");
        assert_eq!(options.campaign.unwrap().value(), "c");
        assert_eq!(options.description.unwrap().value(), "");
        assert_eq!(options.subtype.unwrap().value(), "s");
        assert_eq!(workflow(r#""demo", name = "x""#).1, ["option `name` is given twice"]);
        assert_eq!(workflow("5").1, ["`name` is a text in quotes"]);
    }
}
