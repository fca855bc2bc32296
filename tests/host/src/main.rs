//! The host program that the torture campaigns run and kill.
//!
//! | command | does |
//! |---|---|
//! | `load [OPTIONS]` | calls recorded functions; what is captured is up to the settings that it finds |
//! | `queue DATABASE [OPTIONS]` | the same load through a plain queue and a writer thread |
//! | `fork [OPTIONS]` | forks while threads record; each child records, too, and ends well or by abort |
//! | `sampled [OPTIONS]` | calls nested functions, some of which fail, and prints how often each was called |
//! | `produce [OPTIONS]` | records numbered events; what drains it is up to the settings that it finds |
//! | `watch FOLDER PAUSE_US` | watches the program whose journal is there, to its end, and prints what it saw and missed |
//! | `drain FOLDER` | drains the programs of the folder, once it is its turn |
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
mod tapped;

use std::error::Error;
use std::time::Duration;

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
        "produce" => tapped::produce(Options::parse(arguments)?),
        "watch" => {
            let folder = next("the folder")?;
            let pause = Duration::from_micros(next("the pause")?.parse()?);
            tapped::watch(folder.as_ref(), pause)
        }
        "drain" => tapped::drain(next("the folder")?.as_ref()),
        "recover" => recovery::run(next("the folder")?.as_ref()),
        other => Err(format!("there is no command {other}").into()),
    }
}
