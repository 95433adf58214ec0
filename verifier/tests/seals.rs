//! Each seal of the ladder as a program that must not compile, with the compiler's words.

#[test]
fn no_rung_can_be_skipped_forged_or_copied() {
    trybuild::TestCases::new().compile_fail("tests/seals/*.rs");
}
