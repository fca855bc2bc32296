//! Keys on a model with a few activities.

use telemetry_core::status::Status;
use telemetry_core::tap::{Seen, What};

use super::*;
use crate::commands::top::model::Program;

/// Three activities: `alpha` has 1 call, `beta` 2, `gamma` 3 of which one failed.
fn model() -> Model {
    let mut model = Model::default();
    let program = model.add_program(Program::default());
    let mut number = 0;
    for (count, name) in [(1, "alpha"), (2, "beta"), (3, "gamma")] {
        for call in 0..count {
            number += 1;
            let status = if call == 2 { Status::Error } else { Status::Finished };
            let (task, activity) = (TaskId::from_u128(number), Some(name.to_owned()));
            let generated = String::new();
            let end = What::TaskEnd { task, activity, status, error_kind: None, stderr: None, generated };
            model.see(program, Seen::new(number as i64, end));
        }
    }
    model
}

fn press(state: &mut State, keys: &[KeyCode]) -> Wish {
    let model = model();
    let mut wish = Wish::Nothing;
    for key in keys {
        wish = state.press((*key).into(), &model);
    }
    wish
}

fn letters(text: &str) -> Vec<KeyCode> {
    text.chars().map(KeyCode::Char).collect()
}

fn names(state: &State) -> Vec<String> {
    rows::activities(&model(), state.sort, &state.filter).into_iter().map(|row| row.name).collect()
}

#[test]
fn letters_sort() {
    let mut state = State::new(Sort::Name);
    assert_eq!(names(&state), ["alpha", "beta", "gamma"]);
    for (letter, first, sort) in
        [('c', "gamma", Sort::Calls), ('e', "gamma", Sort::Errors), ('n', "alpha", Sort::Name)]
    {
        press(&mut state, &[KeyCode::Char(letter)]);
        assert_eq!((names(&state)[0].as_str(), state.sort), (first, sort));
    }
    press(&mut state, &letters("rt"));
    assert_eq!(state.sort, Sort::Time);
}

#[test]
fn a_filter_is_typed_kept_and_taken_away() {
    let mut state = State::new(Sort::Name);
    press(&mut state, &letters("/Bq"));
    assert_eq!(
        (state.filter.as_str(), names(&state).len()),
        ("Bq", 0),
        "a letter of the filter does nothing else"
    );
    press(&mut state, &[KeyCode::Backspace, KeyCode::Enter]);
    assert_eq!((names(&state), state.is_typing), (vec!["beta".to_owned()], false));
    press(&mut state, &[KeyCode::Esc]);
    assert_eq!(names(&state).len(), 3);
    press(&mut state, &letters("/x"));
    press(&mut state, &[KeyCode::Esc]);
    assert_eq!((state.filter.as_str(), state.is_typing), ("", false));
}

#[test]
fn a_selection_stays_with_its_line_and_opens_it() {
    let mut state = State::new(Sort::Name);
    press(&mut state, &[KeyCode::Down]);
    assert_eq!(state.selected.as_deref(), Some("beta"));
    press(&mut state, &letters("c"));
    assert_eq!(place(&names(&state), state.selected.as_ref()), 1);
    press(&mut state, &[KeyCode::End, KeyCode::Down]);
    assert_eq!(state.selected.as_deref(), Some("alpha"));
    press(&mut state, &[KeyCode::Home, KeyCode::Enter]);
    let tasks = |list| Page::Tasks { activity: "gamma".to_owned(), list, selected: None };
    assert_eq!(state.page, tasks(List::Latest));
    press(&mut state, &[KeyCode::Tab]);
    assert_eq!(state.page, tasks(List::Slowest));
    assert_eq!(press(&mut state, &[KeyCode::Tab, KeyCode::Enter]), Wish::Open(TaskId::from_u128(6)));
    let list = state.page.clone();
    state.show("a\nb\nc".to_owned());
    press(&mut state, &[KeyCode::PageDown]);
    assert!(matches!(state.page, Page::Task { scroll: 2, .. }));
    press(&mut state, &[KeyCode::Esc]);
    assert_eq!(state.page, list);
    press(&mut state, &[KeyCode::Esc]);
    assert_eq!(state.page, Page::Activities);
}

#[test]
fn help_and_the_way_out() {
    let mut state = State::new(Sort::Time);
    press(&mut state, &letters("?"));
    assert!(state.is_help);
    press(&mut state, &letters("c"));
    assert_eq!((state.is_help, state.sort), (false, Sort::Time), "the first key only takes the help away");
    assert_eq!(press(&mut state, &letters("q")), Wish::Quit);
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(state.press(control_c, &model()), Wish::Quit);
    press(&mut state, &letters("/"));
    assert_eq!(state.press(control_c, &model()), Wish::Quit);
}
