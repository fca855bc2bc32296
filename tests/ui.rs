//! What wrong use of the attributes looks like: one file a mistake, its messages beside it.

#[test]
fn mistakes_are_reported_at_their_token() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
