//! The program on a terminal: tables, colours, widths.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use nix::pty::{Winsize, openpty};

use crate::fixture::{command, database, mask};

/// What a terminal of this width receives.
fn on_terminal(width: u16, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let size = Winsize { ws_row: 40, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(&size, None).unwrap();
    let mut command = command(arguments);
    command.arg("--database").arg(database()).env("TERM", "xterm").envs(variables.iter().copied());
    command.stdout(terminal.slave.try_clone().unwrap()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop((command, terminal.slave));
    let mut bytes = Vec::new();
    // A terminal ends with an error once nobody holds its other side.
    let _ = File::from(terminal.master).read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success());
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
}

const PLAIN: &[(&str, &str)] = &[("NO_COLOR", "1")];

#[test]
fn ls_is_a_table() {
    assert_eq!(
        mask(&on_terminal(100, PLAIN, &["ls"])),
        "id  name  status  started  took  tasks  errors\n\
        ID  nightly  ERROR  AGO  TIME  11  3\n\
        ID  plain  FINISHED  AGO  TIME  1  0\n"
    );
}

#[test]
fn colours_come_and_go() {
    let red = "\u{1b}[31mERROR";
    assert!(on_terminal(100, &[], &["ls"]).contains(red));
    assert!(!on_terminal(100, PLAIN, &["ls"]).contains('\u{1b}'));
    assert!(!on_terminal(100, &[], &["ls", "--color", "never"]).contains('\u{1b}'));
    assert!(on_terminal(100, PLAIN, &["ls", "--color", "always"]).contains(red));
    let forced =
        command(&["show", "--database"]).arg(database()).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(String::from_utf8(forced.stdout).unwrap().contains(red));
}

#[test]
fn sql_is_a_table_that_fits() {
    let query = "select activity_id, depth, used, stderr from tasks where depth = 2 and stderr is not null";
    assert_eq!(
        on_terminal(60, PLAIN, &["sql", query]),
        "\
╭─────────────┬───────┬──────────────────┬─────────────────╮
│ activity_id ┆ depth ┆ used             ┆ stderr          │
╞═════════════╪═══════╪══════════════════╪═════════════════╡
│ batch       ┆     2 ┆ {\"note\":\"a\\tb\\n\\ ┆ loss is not a   │
│             ┆       ┆ u001b[31mc\"}     ┆ number          │
│             ┆       ┆                  ┆ at batch 2      │
╰─────────────┴───────┴──────────────────┴─────────────────╯
"
    );
}

#[test]
fn too_many_columns_stand_under_each_other() {
    let query = "select activity_id as a, depth as bb, 1 as c, null as d, 'x' || char(10) || 'y' as e from tasks limit 1";
    assert_eq!(
        on_terminal(40, PLAIN, &["sql", query]),
        "── row 1 ──\na   step\nbb  0\nc   1\nd   –\ne   x\n    y\n"
    );
}
