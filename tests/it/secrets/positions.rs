//! The places that a secret is planted in: each is a function that records it there.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use serde::{Serialize, Serializer};
use telemetry::{CurrentTask, Task, Workflow, current_task, task};

use super::corpus::Secret;

/// A place and what plants a secret there.
type Position = (&'static str, fn(&Secret));

/// Where a secret is planted: in a text that gives it away, or alone under a name or in a type that does.
pub(crate) const POSITIONS: &[Position] = &[
    ("argument", |secret| argument(&secret.text)),
    ("optional argument", |secret| optional(Some(secret.text.clone()))),
    ("field", |secret| record(&Note { note: &secret.text, n: 1 })),
    ("list of structs", |secret| record(&[Note { note: "x", n: 1 }, Note { note: &secret.text, n: 2 }])),
    ("nested map", |secret| record(&BTreeMap::from([("a", BTreeMap::from([("b", &secret.text)]))]))),
    ("key of a map", |secret| record(&BTreeMap::from([(&secret.text, 1)]))),
    ("tuple", |secret| record(&(1, &secret.text, 2.5))),
    ("variant", |secret| record(&Choice::Note(secret.text.clone()))),
    ("struct variant", |secret| record(&Choice::Named { note: secret.text.clone() })),
    ("json", |secret| record(&serde_json::json!({"a": [{"b": secret.text}]}))),
    ("debug", |secret| debugged(OnlyDebug { note: secret.text.clone(), n: 1 })),
    ("list of debug", |secret| debugged(vec![OnlyDebug { note: secret.text.clone(), n: 1 }])),
    ("display in serialize", |secret| record(&Displayed(&secret.text))),
    ("error of serialize", |secret| record(&Failing(&secret.text))),
    ("bytes", |secret| record(&Bytes(secret.text.as_bytes()))),
    ("lock", |secret| locked(Arc::new(Mutex::new(secret.text.clone())))),
    ("borrowed cell", |secret| celled(&RefCell::new(secret.text.clone()))),
    ("cow", |secret| cow(Cow::Borrowed(&secret.text))),
    ("path", |secret| path(Path::new(OsStr::from_bytes(&[b"\xFF/", secret.text.as_bytes()].concat())))),
    ("text cut within", |secret| argument(&cut(&secret.text))),
    ("debug cut within", |secret| debugged(OnlyDebug { note: cut(&secret.text), n: 1 })),
    ("json in a text", |secret| {
        argument(&format!("{:?}", serde_json::json!({"a": secret.text}).to_string()));
    }),
    ("lines", |secret| argument(&format!("first\n{}\nlast", secret.text))),
    ("large record", |secret| drop(large(&secret.text, &"x ".repeat(2000)))),
    ("result", |secret| drop(returned(secret))),
    ("field of a result", |secret| assert_eq!(returned_note(secret).n, 1)),
    ("named output", |secret| drop(returned_as(secret))),
    ("error", |secret| drop(failed(secret))),
    ("debug error", |secret| drop(failed_debug(secret))),
    ("panic", |secret| drop(catch_unwind(AssertUnwindSafe(|| panicked(secret))))),
    ("async argument", |secret| drop(wait(async_argument(secret.text.clone())))),
    ("async error", |secret| drop(wait(async_failed(secret)))),
    ("metadata", |secret| with_metadata(&secret.text)),
    ("captured", |secret| captured(&secret.text)),
    ("group", |secret| grouped(&secret.text)),
    ("used later", |secret| later(|task| task.used("note", &secret.text))),
    ("generated later", |secret| later(|task| task.generated("note", &secret.text))),
    ("metadata later", |secret| later(|task| task.metadata("note", &secret.text))),
    ("tag", |secret| later(|task| task.tag(&secret.text))),
    ("output", |secret| later(|task| task.stdout(&secret.text))),
    ("task by hand", |secret| {
        Task::start("by hand").used("a", &secret.text).generated("b", &secret.text).end();
    }),
    ("failed task by hand", |secret| Task::start("by hand").fail(&secret.text)),
    ("activity", |secret| Task::start(&secret.text).end()),
    ("workflow", |secret| Workflow::start(&secret.text).end()),
    ("failed workflow", |secret| Workflow::start("nested").fail(&secret.text)),
    ("thread", |secret| thread(&secret.text)),
    ("name of an argument", |secret| named_argument(&secret.needle)),
    ("name of a field", |secret| record(&[Keys { user: "me", api_key: &secret.needle }])),
    ("name of a key", |secret| record(&BTreeMap::from([("Authorization", &secret.needle)]))),
    ("headers", |secret| record(&[("accept", "x"), ("cookie", &secret.needle)])),
    ("command line", |secret| record(&["run", "--db-password", &secret.needle])),
    ("name in debug", |secret| debugged(OnlyDebugKeys { user: "me", token: secret.needle.clone() })),
    ("name of a variant", |secret| record(&Choice::Password(secret.needle.clone()))),
    ("name of an output", |secret| drop(returned_secret(secret))),
    ("name of metadata", |secret| named_metadata(&secret.needle)),
    ("name of a capture", |secret| named_capture(&secret.needle)),
    ("name by hand", |secret| Task::start("by hand").used("dbPassword", &secret.needle).end()),
    ("name in an address", |secret| argument(&format!("https://h/p?access_token={}&n=1", secret.needle))),
    ("type", |secret| record(&Some(SecretText(secret.needle.clone())))),
    ("debug of a type", |secret| debugged(vec![Zeroizing(secret.needle.clone())])),
    ("redacted argument", |secret| redacted(&secret.needle)),
    ("name of an async argument", |secret| drop(wait(async_named(secret.needle.clone())))),
];

/// A text that the limit of a value parts within the secret.
fn cut(text: &str) -> String {
    format!("{} {text} {}", "x".repeat(4096 - 30), "y ".repeat(50))
}

#[derive(Clone, Serialize)]
struct Note<'a> {
    note: &'a str,
    n: u8,
}

#[derive(Serialize)]
struct Keys<'a> {
    user: &'a str,
    api_key: &'a str,
}

#[derive(Serialize)]
enum Choice {
    Note(String),
    Named { note: String },
    Password(String),
}

#[derive(Clone, Debug)]
#[expect(dead_code, reason = "its fields are read by Debug")]
struct OnlyDebug {
    note: String,
    n: u8,
}

#[derive(Clone, Debug)]
#[expect(dead_code, reason = "its fields are read by Debug")]
struct OnlyDebugKeys {
    user: &'static str,
    token: String,
}

#[derive(Clone, Debug)]
#[expect(dead_code, reason = "it is read by Debug")]
struct Zeroizing(String);

#[derive(Serialize)]
struct SecretText(String);

struct Displayed<'a>(&'a str);

impl Serialize for Displayed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("it is {}", self.0))
    }
}

struct Failing<'a>(&'a str);

impl Serialize for Failing<'_> {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(format_args!("no {}", self.0)))
    }
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[task]
fn argument(_text: &str) {}

#[task]
fn optional(_text: Option<String>) {}

fn record(value: &impl Serialize) {
    Task::start("record").used("value", value).end();
    serialized(value);
}

#[task]
fn serialized<T: Serialize>(_value: &T) {}

#[task]
fn debugged<T: fmt::Debug>(_value: T) {}

#[task]
fn locked(_value: Arc<Mutex<String>>) {}

#[task]
fn celled(_value: &RefCell<String>) {}

#[task]
fn cow(_value: Cow<'_, str>) {}

#[task]
fn path(_value: &Path) {}

#[task]
fn large(text: &str, _padding: &str) -> Vec<String> {
    (0..20).map(|n| format!("{n} {} {text}", "z ".repeat(100))).collect()
}

#[task]
fn returned(secret: &Secret) -> String {
    secret.text.clone()
}

#[task(skip(secret))]
fn returned_note(secret: &Secret) -> Note<'_> {
    Note { note: &secret.text, n: 1 }
}

#[task(skip(secret), output = "y")]
fn returned_as(secret: &Secret) -> Result<String, String> {
    Ok(secret.text.clone())
}

#[task(skip(secret), output = "clientSecret")]
fn returned_secret(secret: &Secret) -> String {
    secret.needle.clone()
}

#[task(skip(secret))]
fn failed(secret: &Secret) -> Result<(), String> {
    Err(format!("cannot log in with {}", secret.text))
}

#[task(skip(secret))]
fn failed_debug(secret: &Secret) -> Result<(), OnlyDebug> {
    Err(OnlyDebug { note: secret.text.clone(), n: 1 })
}

#[task(skip(secret))]
fn panicked(secret: &Secret) {
    panic!("cannot log in with {}", secret.text)
}

#[task]
async fn async_argument(text: String) -> String {
    std::future::ready(()).await;
    text
}

#[task(skip(secret))]
async fn async_failed(secret: &Secret) -> Result<(), String> {
    std::future::ready(()).await;
    Err(secret.text.clone())
}

#[task(output = "token")]
async fn async_named(password: String) -> String {
    std::future::ready(()).await;
    password
}

#[task(skip(text), metadata(note = text))]
fn with_metadata(text: &str) {
    let _ = text;
}

#[task(skip(text), capture(note = text))]
fn captured(text: &str) {
    let _ = text;
}

#[task(skip(text), group = text)]
fn grouped(text: &str) {
    let _ = text;
}

#[task(skip_all)]
fn later(add: impl FnOnce(CurrentTask) -> CurrentTask) {
    add(current_task());
}

#[task]
fn named_argument(user_password: &str) {
    let _ = user_password;
}

#[task(skip(text), metadata(api_token = text))]
fn named_metadata(text: &str) {
    let _ = text;
}

#[task(skip(text), capture(private_key = text))]
fn named_capture(text: &str) {
    let _ = text;
}

#[task(redact(text))]
fn redacted(text: &str) {
    let _ = text;
}

fn thread(name: &str) {
    let builder = std::thread::Builder::new().name(name.to_owned());
    builder.spawn(|| argument("in a thread")).expect("a thread").join().expect("it ends");
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = std::task::Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
