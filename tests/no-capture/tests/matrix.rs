//! The cells of `tests/matrix`, built without capture: the attribute changes nothing at all.

#[path = "../../matrix/cells.rs"]
mod cells;

#[test]
fn every_cell_is_the_bare_function() {
    assert_eq!(cells::run_all(0).cells, cells::CELLS);
}
