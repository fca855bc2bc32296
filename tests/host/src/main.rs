//! The host program that the torture campaigns run and kill.
//!
//! | command | does |
//! |---|---|
//! | `load [OPTIONS]` | calls recorded functions; what is captured is up to the settings that it finds |
//! | `queue DATABASE [OPTIONS]` | the same load through a plain queue and a writer thread |
//! | `fork [OPTIONS]` | forks while threads record; each child records, too, and ends well or by abort |
//! | `sampled [OPTIONS]` | calls nested functions, some of which fail, and prints how often each was called |
//! | `session [OPTIONS]` | records packets of a session, some of which fail |
//! | `recover FOLDER` | brings the journals of the folder into its database, and prints the counts as JSON |
//!
//! The load tells the ledger, over its standard output, what was accepted: see `ledger.rs`.
#![forbid(unsafe_code)]

mod forks;
mod ledger;
mod load;
mod options;
mod queue;
mod recovery;
mod sampled;
mod session;

use std::error::Error;

use options::Options;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().ok_or_else(|| format!("{what} is missing"));
    match next("a command")?.as_str() {
        "load" => load::run(Options::parse(arguments)?),
        "queue" => {
            let database = next("the database")?;
            queue::run(database.as_ref(), Options::parse(arguments)?)
        }
        "fork" => forks::run(Options::parse(arguments)?),
        "sampled" => sampled::run(Options::parse(arguments)?),
        "session" => session::run(Options::parse(arguments)?),
        "recover" => recovery::run(next("the folder")?.as_ref()),
        other => Err(format!("there is no command {other}").into()),
    }
}
