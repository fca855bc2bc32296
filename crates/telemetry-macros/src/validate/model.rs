//! What `#[model]` is given, compared with its struct.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::{Attribute, Fields, Generics, Ident, Index, ItemStruct, LitStr, Member};

use super::private;
use crate::complaints::Complaints;
use crate::nearest::hint;
use crate::parse::ModelOptions;

/// Everything that the expansion of `#[model]` prints behind the struct.
pub(crate) struct ModelPlan {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
    /// The path of what generated code may use.
    pub(crate) private: TokenStream,
}

/// A field that is described.
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) member: Member,
    /// Those that say when it is there.
    pub(crate) conditions: Vec<Attribute>,
}

/// Makes the plan of a model; it is only good if there were no complaints.
pub(crate) fn model(options: &ModelOptions, item: &ItemStruct, complaints: &mut Complaints) -> ModelPlan {
    if let Some(again) = item.attrs.iter().find(|attribute| attribute.path().is_ident("model")) {
        complaints.at(again, "`#[model]` stands here twice");
    }
    let all = fields(&item.fields);
    skipped_exist(&options.skip, &all, item, complaints);
    let is_skipped = |field: &Field| options.skip.iter().any(|skip| skip.unraw() == field.name);
    ModelPlan {
        ident: item.ident.clone(),
        generics: item.generics.clone(),
        name: options.name.as_ref().map_or_else(|| item.ident.unraw().to_string(), LitStr::value),
        fields: all.into_iter().filter(|field| !is_skipped(field)).collect(),
        private: private(options.crate_path.as_ref()),
    }
}

fn fields(fields: &Fields) -> Vec<Field> {
    let field = |(position, field): (usize, &syn::Field)| {
        let member =
            field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(position)), Member::Named);
        let name = match &member {
            Member::Named(ident) => ident.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        let conditions = field.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        Field { name, member, conditions: conditions.cloned().collect() }
    };
    fields.iter().enumerate().map(field).collect()
}

fn skipped_exist(skip: &[Ident], fields: &[Field], item: &ItemStruct, complaints: &mut Complaints) {
    let words: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    for (position, name) in skip.iter().enumerate() {
        let word = name.unraw().to_string();
        if skip[..position].contains(name) {
            complaints.at(name, format!("`{word}` is skipped twice"));
        } else if !words.contains(&word.as_str()) {
            complaints.at(name, format!("`{word}` is no field of `{}`{}", item.ident, hint(&word, &words)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(options: &str, item: &str) -> (ModelPlan, Vec<String>) {
        let mut complaints = Complaints::default();
        let options = ModelOptions::parse(options.parse().unwrap(), &mut complaints);
        let plan = model(&options, &syn::parse_str(item).unwrap(), &mut complaints);
        (plan, complaints.messages())
    }

    #[test]
    fn fields_are_described_unless_they_are_skipped() {
        let (plan, messages) =
            plan("name = \"net\", skip(b)", "struct A { a: u8, b: u8, #[cfg(x)] r#fn: u8 }");
        assert_eq!(messages, Vec::<String>::new());
        let names: Vec<&str> = plan.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!((plan.name.as_str(), names), ("net", vec!["a", "fn"]));
        assert_eq!(plan.fields[1].conditions.len(), 1);
    }

    #[test]
    fn only_fields_can_be_skipped() {
        let messages = plan("skip(layr, a, a)", "struct A { a: u8, layer: u8 }").1;
        let expected = ["`layr` is no field of `A`; did you mean `layer`?", "`a` is skipped twice"];
        assert_eq!(messages, expected);
    }
}
