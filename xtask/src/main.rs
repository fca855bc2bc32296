//! Tasks that are neither cargo nor a test: `cargo xtask COMMAND`.
#![expect(clippy::print_stderr, reason = "a task talks to whoever runs it")]

mod bench;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let result = match command.as_str() {
        "bench" => bench::run(arguments),
        _ => Err(format!("unknown task `{command}`; there is bench")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
