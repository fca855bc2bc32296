//! What `#[forward]` is given, compared with its method.

use proc_macro2::Span;
use syn::{LitStr, ReceiverKind};

use super::{Outputs, TaskPlan, eligible, plan};
use crate::complaints::Complaints;
use crate::function::Function;
use crate::parse::TaskOptions;

/// Makes the plan of a forward; it is only good if there were no complaints.
pub(crate) fn forward(mut options: TaskOptions, function: Function, complaints: &mut Complaints) -> TaskPlan {
    eligible(&function, "forward", complaints);
    has_model(&function, complaints);
    if let Some(task) = function.attribute("task") {
        complaints.at(task, "`#[forward]` records the call already; take `#[task]` away");
    }
    options.extras.subtype = Some(LitStr::new("parent_forward", Span::call_site()));
    let is_named = options.name.is_some();
    let mut plan = plan(options, function, complaints);
    if !is_named {
        plan.activity.clear();
    }
    if matches!(plan.outputs, Outputs::Whole) {
        plan.outputs = Outputs::Named(LitStr::new("tensor", Span::call_site()));
    }
    plan.is_forward = true;
    plan
}

/// Complains about functions without a `self` that is the model.
fn has_model(function: &Function, complaints: &mut Complaints) {
    let signature = &function.signature;
    match signature.receiver() {
        None => complaints.at(&signature.ident, "a forward is a method: it needs the model as `self`"),
        Some(receiver) if matches!(receiver.kind, ReceiverKind::Typed(..)) => {
            complaints.at(receiver, "a forward takes `self`, `&self` or `&mut self`");
        }
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn complains(options: &str, function: &str, expected: &[&str]) {
        let mut complaints = Complaints::default();
        let options = TaskOptions::parse_forward(options.parse().unwrap(), &mut complaints);
        forward(options, syn::parse_str(function).unwrap(), &mut complaints);
        assert_eq!(complaints.messages(), expected, "for {function}");
    }

    #[test]
    fn a_forward_is_a_method_of_its_model() {
        complains("skip(mask)", "fn forward(&self, xs: &A, mask: B) -> C {}", &[]);
        complains("", "async fn forward(&mut self, xs: &A) {}", &[]);
        complains("", "fn f(xs: &A) {}", &["a forward is a method: it needs the model as `self`"]);
        complains("", "fn f(self: Arc<Self>) {}", &["a forward takes `self`, `&self` or `&mut self`"]);
        let twice = "`#[forward]` records the call already; take `#[task]` away";
        complains("", "#[task] fn f(&self) {}", &[twice]);
    }

    #[test]
    fn it_has_only_some_options_of_a_task() {
        let message = "unknown option `tags`; known are `name`, `output`, `outputs`, `skip`, `skip_all`, `metadata`, \
                       `level`, `crate`";
        complains("tags(\"a\")", "fn f(&self) {}", &[message]);
    }
}
