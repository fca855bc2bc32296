//! Settings as a whole: files, errors, lookup.

use super::Settings;

#[test]
fn the_default_file_loads() {
    let json = Settings::default().to_json();
    assert_eq!(json["capture"]["default_level"], "full");
}
