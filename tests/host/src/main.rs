//! The host program that the torture campaigns run and kill, and whose instructions are counted.
//!
//! | command | does |
//! |---|---|
//! | `load [OPTIONS]` | calls recorded functions; what is captured is up to the settings that it finds |
//! | `queue DATABASE [OPTIONS]` | the same load through a plain queue and a writer thread |
//! | `calls LEVEL TIMES` | calls one recorded function, for counting instructions |
//! | `fork [OPTIONS]` | forks while threads record; each child records, too, and ends well or by abort |
//! | `leave [OPTIONS]` | forks a child that records and ends at once itself, as a program does that goes into the background |
//! | `sampled [OPTIONS]` | calls nested functions, some of which fail, and prints how often each was called |
//! | `work [OPTIONS]` | works through a fixed amount, prints what came of it and ends with code 7, or as it is told |
//! | `everything [--list FILE \| --once PLACE \| --always PLACE]` | does a little of all that can be recorded, with a fault of ours at a place |
//! | `power` | records until killed, and prints how many tasks a flush has said to be written |
//! | `damage TEMPLATE SCRATCH CASES SEED` | damages copies of the template's files and recovers them; prints figures as JSON |
//! | `session [OPTIONS]` | records packets of a session, some of which fail |
//! | `produce [OPTIONS]` | records numbered events; what drains it is up to the settings that it finds |
//! | `watch FOLDER PAUSE_US` | watches the program whose journal is there, to its end, and prints what it saw and missed |
//! | `drain FOLDER` | drains the programs of the folder, once it is its turn |
//! | `recover FOLDER` | brings the journals of the folder into its database, and prints the counts as JSON |
//!
//! The load tells the ledger, over its standard output, what was accepted: see `ledger.rs`.
#![forbid(unsafe_code)]

mod calls;
mod damage;
mod everything;
mod forks;
mod ledger;
mod load;
mod options;
mod power;
mod queue;
#[path = "../../../xtask/src/torture/random.rs"]
mod random;
mod recovery;
mod sampled;
mod session;
mod tapped;
mod work;

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
        "calls" => calls::run(&next("a level")?, next("a number")?.parse()?),
        "fork" => forks::run(Options::parse(arguments)?),
        "leave" => forks::leave(Options::parse(arguments)?),
        "sampled" => sampled::run(Options::parse(arguments)?),
        "work" => work::run(&work::Options::parse(arguments)?),
        "everything" => everything::run(arguments),
        "power" => power::run(),
        "damage" => {
            let (template, scratch) = (next("the template")?, next("the scratch folder")?);
            let number = |text: String| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
            damage::run(
                template.as_ref(),
                scratch.as_ref(),
                number(next("the cases")?)?,
                number(next("the seed")?)?,
            )
        }
        "session" => session::run(Options::parse(arguments)?),
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
