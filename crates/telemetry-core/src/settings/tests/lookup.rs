//! Which file counts.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::lookup_with;
use crate::settings::environment::SETTINGS;
use crate::settings::{Lookup, Origin, Settings};

/// A folder with a project in it, a working folder two levels down, and a config folder.
struct Scene {
    root: TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(scene.path("project/deep/down")).unwrap();
        fs::create_dir_all(scene.path("config/telemetry")).unwrap();
        scene
    }

    fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    fn write(&self, below: &str, text: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(below), text).unwrap();
        self
    }

    fn lookup(&self) -> Lookup {
        Lookup {
            variables: [].into(),
            working_dir: self.path("project/deep/down"),
            config_dir: Some(self.path("config")),
        }
    }

    fn lookup_named(&self, file: impl AsRef<Path>) -> Lookup {
        let variables = [(SETTINGS.to_owned(), file.as_ref().into())].into();
        Lookup { variables, ..self.lookup() }
    }

    fn check(&self, expected: Option<&str>) {
        let expected = expected.map_or(Origin::BuiltIn, |below| Origin::File(self.path(below)));
        assert_eq!(Settings::load_from(&self.lookup()).unwrap().origin, expected);
    }

    fn check_error(&self, lookup: &Lookup, expected: &str) {
        let message = Settings::load_from(lookup).unwrap_err().to_string();
        let masked = message.replace(&self.root.path().display().to_string(), "ROOT");
        assert_eq!(masked, expected);
    }
}

#[test]
fn without_a_file_the_defaults_are_built_in() {
    let scene = Scene::new();
    scene.check(None);
    assert_eq!(Origin::BuiltIn.to_string(), "built-in defaults");
}

#[test]
fn the_nearest_file_upward_comes_before_the_config_folder() {
    let scene = Scene::new();
    scene.write("config/telemetry/settings.yaml", "").check(Some("config/telemetry/settings.yaml"));
    scene.write("project/settings.yaml", "store: {}").check(Some("project/settings.yaml"));
    scene.write("project/deep/settings.yaml", "journal:").check(Some("project/deep/settings.yaml"));
    scene.write("project/deep/down/settings.yaml", "capture: {reload: true}");
    scene.check(Some("project/deep/down/settings.yaml"));
}

#[test]
fn the_settings_of_others_are_passed_over() {
    let scene = Scene::new();
    scene.write("project/settings.yaml", "store: {}");
    let large = vec![b'x'; 2_000_000];
    let strangers: [&[u8]; 9] = [
        b"",
        b"debug: true\nport: 80\n",
        b"- capture\n- store\n",
        b"just text",
        b"a: [1, 2\nb: }\n",
        b"\xff\xfe\x00binary\x00",
        b"  store: {}\n b\n  - c: [",
        b"storefront: [\n",
        &large,
    ];
    for stranger in strangers {
        scene.write("project/deep/settings.yaml", stranger).check(Some("project/settings.yaml"));
    }
    fs::remove_file(scene.path("project/deep/settings.yaml")).unwrap();
    fs::create_dir(scene.path("project/deep/settings.yaml")).unwrap();
    scene.check(Some("project/settings.yaml"));
}

#[test]
fn a_broken_file_that_was_meant_for_us_is_an_error() {
    let scene = Scene::new();
    scene.write("project/settings.yaml", "capture:\n  rules: [\n");
    scene.check_error(
        &scene.lookup(),
        "ROOT/project/settings.yaml:3: not valid YAML: did not find expected node content at line 3 column 1, \
         while parsing a flow node",
    );
    scene.write("project/settings.yaml", b"debug: 1\nstore :\n  path: \xff\n");
    scene.check_error(&scene.lookup(), "ROOT/project/settings.yaml:3: not UTF-8 text");
    scene.write("project/settings.yaml", format!("store:\n  path: {}\n", "x".repeat(2_000_000)));
    scene.check_error(
        &scene.lookup(),
        "ROOT/project/settings.yaml: larger than 1048576 bytes, which no settings file is",
    );
}

#[test]
fn the_named_file_comes_first_and_must_exist() {
    let scene = Scene::new();
    scene.write("project/settings.yaml", "store: {}").write("mine.yaml", "flowcept_version: 1");
    let loaded = Settings::load_from(&scene.lookup_named(scene.path("mine.yaml"))).unwrap();
    assert_eq!(loaded.origin, Origin::File(scene.path("mine.yaml")));
    assert_eq!(loaded.ignored, ["flowcept_version"]);

    let relative = Settings::load_from(&scene.lookup_named("../../settings.yaml")).unwrap();
    assert_eq!(relative.origin, Origin::File(scene.path("project/deep/down/../../settings.yaml")));

    let empty = Settings::load_from(&scene.lookup_named("")).unwrap();
    assert_eq!(empty.origin, Origin::File(scene.path("project/settings.yaml")));

    scene.check_error(
        &scene.lookup_named("gone.yaml"),
        "cannot read settings file ROOT/project/deep/down/gone.yaml: No such file or directory (os error 2)",
    );
}

#[test]
fn relative_paths_begin_at_the_working_folder() {
    let scene = Scene::new();
    scene.write(
        "project/settings.yaml",
        "store: {path: data/p.db}\njournal: {dir: lanes}\nsession: {output_dir: /abs/sessions}\n",
    );
    let settings = Settings::load_from(&scene.lookup()).unwrap().settings;
    assert_eq!(settings.store.path, scene.path("project/deep/down/data/p.db"));
    assert_eq!(settings.journal.dir, Some(scene.path("project/deep/down/lanes")));
    assert_eq!(settings.session.output_dir, Path::new("/abs/sessions"));

    let built_in = Settings::load_from(&lookup_with(&[])).unwrap().settings;
    assert_eq!(built_in.store.path, Path::new("/nowhere/at/all/.telemetry/provenance.db"));
    assert_eq!(built_in.journal.dir, None);
}
