//! Second stage: options and function are compared, and a plan is made of them.

mod forward;
mod model;

pub(crate) use forward::forward;
pub(crate) use model::{ModelPlan, model};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Ident, LitStr, Path};

use crate::arguments::{self, Argument};
use crate::complaints::Complaints;
use crate::extras::Extras;
use crate::function::Function;
use crate::nearest::hint;
use crate::parse::{TaskOptions, WorkflowOptions};
use crate::returned::Returned;

/// How a function is rebuilt around its body.
pub(crate) enum Form {
    /// The body becomes a closure.
    Sync,
    /// The body becomes a future that the function returns, which is no longer called async.
    Async,
    /// The body becomes a future inside the async function.
    AsyncInside,
    /// The body is nothing but a future, which is wrapped where it is made.
    Future(FutureBody),
    /// The body stays where it is, behind a guard.
    Place,
}

/// `async move { … }`, or the same as the only argument of a call.
pub(crate) struct FutureBody {
    /// What is called, as `Box::pin`.
    pub(crate) call: TokenStream,
    pub(crate) block: Group,
}

/// What of a returned value is recorded, and under which names.
pub(crate) enum Outputs {
    Nothing,
    Whole,
    Named(LitStr),
    Fields(Vec<LitStr>),
}

impl Outputs {
    pub(crate) fn names(&self) -> &[LitStr] {
        match self {
            Self::Nothing | Self::Whole => &[],
            Self::Named(name) => std::slice::from_ref(name),
            Self::Fields(names) => names,
        }
    }
}

/// Everything that the expansion of `#[task]` prints.
pub(crate) struct TaskPlan {
    pub(crate) function: Function,
    pub(crate) form: Form,
    pub(crate) activity: String,
    pub(crate) level: Option<Ident>,
    pub(crate) arguments: Vec<Argument>,
    /// The names that are not captured.
    pub(crate) skipped: Vec<Ident>,
    /// The names whose values are replaced by a mark.
    pub(crate) redacted: Vec<Ident>,
    pub(crate) extras: Extras,
    pub(crate) returned: Returned,
    pub(crate) outputs: Outputs,
    /// Whether it is the forward of a model: tensors are inspected, and the model is its activity.
    pub(crate) is_forward: bool,
    /// The path of what generated code may use.
    pub(crate) private: TokenStream,
}

/// Everything that the expansion of `#[workflow]` prints.
pub(crate) struct WorkflowPlan {
    pub(crate) function: Function,
    pub(crate) name: String,
    pub(crate) options: WorkflowOptions,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) returned: Returned,
    pub(crate) private: TokenStream,
}

/// Makes the plan of a task; it is only good if there were no complaints.
pub(crate) fn task(options: TaskOptions, function: Function, complaints: &mut Complaints) -> TaskPlan {
    eligible(&function, "task", complaints);
    plan(options, function, complaints)
}

/// Makes the plan of a call that is recorded, by whichever attribute.
fn plan(options: TaskOptions, function: Function, complaints: &mut Complaints) -> TaskPlan {
    let arguments = arguments::read(&function.signature);
    let skipped = skipped(&options, &function, &arguments, complaints);
    redacted(&options, &function, &arguments, complaints);
    let used = arguments.iter().flat_map(|argument| &argument.names).filter(|name| !skipped.contains(name));
    options.extras.check(&used.collect::<Vec<_>>(), complaints);
    let mut returned = Returned::read(&function.signature.output);
    let form = form(&function, &returned);
    if matches!(form, Form::Future(_)) {
        returned = returned.future_output().as_ref().map_or(returned, Returned::of);
    }
    TaskPlan {
        activity: activity(options.name.as_ref(), &function),
        outputs: outputs(options.output, options.outputs, &returned, complaints),
        private: private(options.crate_path.as_ref()),
        level: options.level,
        is_forward: false,
        function,
        form,
        arguments,
        skipped,
        redacted: options.redact,
        extras: options.extras,
        returned,
    }
}

/// Makes the plan of a workflow; it is only good if there were no complaints.
pub(crate) fn workflow(
    options: WorkflowOptions,
    function: Function,
    complaints: &mut Complaints,
) -> WorkflowPlan {
    eligible(&function, "workflow", complaints);
    if let Some(attribute) = function.attribute("track_caller") {
        complaints.at(attribute, "a workflow cannot tell who called it; take `#[track_caller]` away");
    }
    WorkflowPlan {
        name: activity(options.name.as_ref(), &function),
        private: private(options.crate_path.as_ref()),
        arguments: arguments::read(&function.signature),
        returned: Returned::read(&function.signature.output),
        options,
        function,
    }
}

/// Complains about functions that cannot be recorded, or are already.
fn eligible(function: &Function, attribute: &str, complaints: &mut Complaints) {
    let signature = &function.signature;
    if let Some(word) = &signature.constness {
        complaints.at(word, "a `const fn` may run inside the compiler, where nothing can be recorded");
    }
    if let Some(variadic) = &signature.variadic {
        complaints.at(variadic, "a function with `...` cannot hand its arguments on");
    }
    if let Some(again) = function.attribute(attribute) {
        complaints.at(again, format!("`#[{attribute}]` stands here twice"));
    }
}

/// The names that `skip` and `skip_all` leave out.
fn skipped(
    options: &TaskOptions,
    function: &Function,
    arguments: &[Argument],
    complaints: &mut Complaints,
) -> Vec<Ident> {
    arguments_exist(&options.skip, "skipped", function, arguments, complaints);
    if let (Some(all), false) = (&options.skip_all, options.skip.is_empty()) {
        complaints.at(all, "`skip_all` already contains what `skip` names");
    }
    if options.skip_all.is_none() {
        return options.skip.clone();
    }
    arguments.iter().flat_map(|argument| argument.names.iter().cloned()).collect()
}

/// Complains about names that `redact` cannot replace the value of.
fn redacted(options: &TaskOptions, function: &Function, arguments: &[Argument], complaints: &mut Complaints) {
    arguments_exist(&options.redact, "redacted", function, arguments, complaints);
    if let (Some(all), false) = (&options.skip_all, options.redact.is_empty()) {
        complaints.at(all, "`skip_all` leaves nothing that `redact` could hide");
    }
    for name in options.redact.iter().filter(|name| options.skip.contains(name)) {
        complaints.at(name, format!("`{name}` is skipped, so it need not be redacted"));
    }
}

/// Complains about names in a list that are no argument, or come twice.
fn arguments_exist(
    list: &[Ident],
    done: &str,
    function: &Function,
    arguments: &[Argument],
    complaints: &mut Complaints,
) {
    let names: Vec<&Ident> = arguments.iter().flat_map(|argument| &argument.names).collect();
    let words: Vec<String> = names.iter().map(|name| name.unraw().to_string()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for (position, name) in list.iter().enumerate() {
        if list[..position].contains(name) {
            complaints.at(name, format!("`{name}` is {done} twice"));
        } else if name == "self" && function.signature.receiver().is_some() {
            complaints.at(name, format!("`self` is never captured, so it need not be {done}"));
        } else if !names.contains(&name) {
            let message = format!("`{name}` is no argument of `{}`", function.signature.ident);
            complaints.at(name, message + &hint(&name.unraw().to_string(), &words));
        }
    }
}

fn outputs(
    output: Option<LitStr>,
    outputs: Option<Vec<LitStr>>,
    returned: &Returned,
    complaints: &mut Complaints,
) -> Outputs {
    if let (Some(one), Some(_)) = (&output, &outputs) {
        complaints.at(
            one,
            "`output` names the whole value and `outputs` its fields: only one of them can be given",
        );
    }
    if let Some(names) = outputs {
        output_fields(&names, returned, complaints);
        return Outputs::Fields(names);
    }
    match (output, returned) {
        (Some(name), Returned::Value(_)) => Outputs::Named(name),
        (Some(name), _) => {
            complaints.at(&name, "nothing is returned here that could have a name");
            Outputs::Nothing
        }
        (None, Returned::Value(_)) => Outputs::Whole,
        (None, _) => Outputs::Nothing,
    }
}

/// Compares the names with the tuple that is returned, where the signature shows it.
fn output_fields(names: &[LitStr], returned: &Returned, complaints: &mut Complaints) {
    for (position, name) in names.iter().enumerate() {
        if names[..position].iter().any(|earlier| earlier.value() == name.value()) {
            complaints.at(name, format!("two outputs are called `{}`", name.value()));
        }
    }
    let Some(first) = names.first() else { return };
    match returned.fields() {
        Some(0) => {
            complaints.at(first, "`outputs` names the fields of a tuple, and no tuple is returned here");
        }
        Some(fields) if fields < names.len() => {
            let message = format!("the tuple that is returned has only {}", counted(fields));
            complaints.at(&names[fields], message);
        }
        Some(fields) if fields > names.len() => {
            let last = names.last().unwrap_or(first);
            let message = format!("the tuple that is returned has {}; each needs a name", counted(fields));
            complaints.at(last, message);
        }
        _ => {}
    }
}

fn counted(fields: usize) -> String {
    if fields == 1 { "1 field".to_owned() } else { format!("{fields} fields") }
}

fn activity(name: Option<&LitStr>, function: &Function) -> String {
    name.map_or_else(|| function.signature.ident.unraw().to_string(), LitStr::value)
}

fn private(crate_path: Option<&Path>) -> TokenStream {
    crate_path.map_or_else(|| quote!(::telemetry::__private), |path| quote!(#path::__private))
}

fn form(function: &Function, returned: &Returned) -> Form {
    if function.signature.asyncness.is_some() {
        let is_alone = function.attributes.iter().all(leaves_async_alone);
        return if is_alone { Form::Async } else { Form::AsyncInside };
    }
    if function.attributes.iter().any(tracks_caller)
        || returned.needs_place() && returned.future_output().is_none()
    {
        return Form::Place;
    }
    match returned.future_output().and_then(|_| future_body(&function.body)) {
        Some(body) => Form::Future(body),
        None if returned.needs_place() => Form::Place,
        None => Form::Sync,
    }
}

/// Whether an attribute says the same about an async function as about one that returns its future. Not so
/// `#[must_use]`, and any that somebody else expands.
fn leaves_async_alone(attribute: &syn::Attribute) -> bool {
    const WORDS: [&str; 11] = [
        "allow",
        "cfg",
        "cold",
        "deny",
        "deprecated",
        "doc",
        "expect",
        "forbid",
        "inline",
        "target_feature",
        "warn",
    ];
    let first = attribute.path().segments.first().map(|first| first.ident.to_string());
    let is_tool = matches!(first.as_deref(), Some("clippy" | "rustfmt"));
    is_tool || WORDS.iter().any(|word| attribute.path().is_ident(word))
}

/// `#[track_caller]`, also as a possible outcome of `#[cfg_attr]`.
fn tracks_caller(attribute: &syn::Attribute) -> bool {
    let conditional = attribute.path().is_ident("cfg_attr");
    let mentions = || mentions(attribute.meta.to_token_stream(), &|word| word == "track_caller");
    attribute.path().is_ident("track_caller") || conditional && mentions()
}

/// Whether one of these words stands anywhere in the tokens.
pub(crate) fn mentions(tokens: TokenStream, wanted: &impl Fn(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => wanted(&ident),
        TokenTree::Group(group) => mentions(group.stream(), wanted),
        _ => false,
    })
}

/// Recognizes bodies that do nothing but make a future: what `#[async_trait]` leaves, and its like by hand.
fn future_body(body: &Group) -> Option<FutureBody> {
    let mut trees: Vec<TokenTree> = body.stream().into_iter().collect();
    if let Some(block) = async_move(&trees) {
        return Some(FutureBody { call: TokenStream::new(), block });
    }
    let Some(TokenTree::Group(arguments)) = trees.pop() else { return None };
    let call: TokenStream = trees.into_iter().collect();
    let path: Path = syn::parse2(call.clone()).ok()?;
    let arguments: Vec<TokenTree> = arguments.stream().into_iter().collect();
    let block =
        async_move(&arguments).filter(|_| path.segments.last().is_some_and(|last| last.ident == "pin"))?;
    Some(FutureBody { call, block })
}

fn async_move(trees: &[TokenTree]) -> Option<Group> {
    match trees {
        [TokenTree::Ident(first), TokenTree::Ident(second), TokenTree::Group(block)]
            if first == "async" && second == "move" && block.delimiter() == Delimiter::Brace =>
        {
            Some(block.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(options: &str, function: &str) -> (TaskPlan, Vec<String>) {
        let mut complaints = Complaints::default();
        let options = TaskOptions::parse(options.parse().unwrap(), &mut complaints);
        let plan = task(options, syn::parse_str(function).unwrap(), &mut complaints);
        (plan, complaints.messages())
    }

    #[track_caller]
    fn complains(options: &str, function: &str, expected: &[&str]) {
        assert_eq!(plan(options, function).1, expected, "for {options} on {function}");
    }

    #[test]
    fn names_must_be_arguments() {
        complains("skip(x, z)", "fn f(x: A, (y, z): B) {}", &[]);
        complains(
            "skip(widht)",
            "fn f(width: A) {}",
            &["`widht` is no argument of `f`; did you mean `width`?"],
        );
        complains("skip(q)", "fn f() {}", &["`q` is no argument of `f`"]);
        complains("skip(x, x)", "fn f(x: A) {}", &["`x` is skipped twice"]);
        complains("skip(self)", "fn f(&self) {}", &["`self` is never captured, so it need not be skipped"]);
        complains("skip_all, skip(x)", "fn f(x: A) {}", &["`skip_all` already contains what `skip` names"]);
    }

    #[test]
    fn outputs_must_fit_what_is_returned() {
        complains("outputs(\"a\", \"b\")", "fn f() -> Result<(A, B), E> {}", &[]);
        complains("outputs(\"a\", \"b\")", "fn f() -> Alias {}", &[]);
        let no_tuple = "`outputs` names the fields of a tuple, and no tuple is returned here";
        for function in ["fn f() {}", "fn f() -> i64 {}", "fn f() -> Vec<u8> {}", "fn f() -> ! {}"] {
            complains("outputs(\"a\")", function, &[no_tuple]);
        }
        let short = "the tuple that is returned has 3 fields; each needs a name";
        complains("outputs(\"a\", \"b\")", "fn f() -> (A, B, C) {}", &[short]);
        let long = "the tuple that is returned has only 1 field";
        complains("outputs(\"a\", \"b\")", "fn f() -> (A,) {}", &[long]);
        complains("outputs(\"a\", \"a\")", "fn f() -> (A, A) {}", &["two outputs are called `a`"]);
        complains("output = \"a\"", "fn f() {}", &["nothing is returned here that could have a name"]);
        let both = "`output` names the whole value and `outputs` its fields: only one of them can be given";
        complains("output = \"a\", outputs(\"b\", \"c\")", "fn f() -> (A, B) {}", &[both]);
    }

    #[test]
    fn what_cannot_be_recorded_is_refused() {
        let constant = "a `const fn` may run inside the compiler, where nothing can be recorded";
        complains("skip(q)", "const fn f() {}", &[constant, "`q` is no argument of `f`"]);
        complains("", "#[task] fn f() {}", &["`#[task]` stands here twice"]);
        let variadic = "a function with `...` cannot hand its arguments on";
        complains("", "unsafe extern \"C\" fn f(a: u8, ...) {}", &[variadic]);
    }

    #[test]
    fn the_form_follows_from_signature_and_body() {
        let form = |function: &str| match plan("", function).0.form {
            Form::Sync => "sync",
            Form::Async => "async",
            Form::AsyncInside => "async inside",
            Form::Future(_) => "future",
            Form::Place => "place",
        };
        assert_eq!(form("fn f() -> impl Iterator<Item = u8> {}"), "sync");
        assert_eq!(form("/// Docs.\n#[inline] async fn f() {}"), "async");
        assert_eq!(form("#[tokio::main] async fn f() {}"), "async inside");
        assert_eq!(form("#[must_use] async fn f() {}"), "async inside");
        assert_eq!(form("#[track_caller] fn f() {}"), "place");
        assert_eq!(form("#[cfg_attr(debug, track_caller)] fn f() {}"), "place");
        assert_eq!(form("fn f() -> impl Fn(&str) -> &str {}"), "place");
        let boxed = "fn f() -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>";
        assert_eq!(form(&format!("{boxed} {{ Box::pin(async move {{ 1 }}) }}")), "future");
        assert_eq!(form(&format!("{boxed} {{ other() }}")), "sync");
        assert_eq!(form("fn f() -> impl Future<Output = u8> { async move { 1 } }"), "future");
        assert_eq!(form("fn f() -> impl Future<Output = u8> { async { 1 } }"), "sync");
    }
}
