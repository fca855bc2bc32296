//! Redaction: what must not be written down is replaced before it reaches the journal, and before anything is cut.
//!
//! Three things give a secret away: the name of what holds it (`userPassword`), its type (`SecretString`), and the
//! form of its text (a private key, a token). A value whose name or type is secret is replaced as a whole by a mark
//! with the kind of secret; within a text only the secret part is, by `[redacted:KIND]`.
//!
//! The built-in rules are one pass over the bytes of a text, written by hand: it runs on the caller's thread for every
//! text. Patterns of the settings are regular expressions and cost what they cost.

mod cards;
mod names;
mod pairs;
mod process;
mod scan;
mod split;
mod tokens;
mod types;
mod verdicts;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use regex_lite::Regex;

use crate::settings;
use crate::words::words;
use names::Names;
use scan::{Finding, is_plain, scan};
pub(crate) use verdicts::Verdicts;

/// How a marker begins.
pub(crate) const MARK: &[u8] = b"[redacted:";

/// So many bytes beyond what is kept of a text are looked at: a secret that the cut would part is found whole.
pub(crate) const WINDOW_BYTES: usize = 4096;

words! {
    /// A rule that is built in; its word is the kind that markers name.
    Rule {
        /// The name of what holds the value; the kind is the word in the name.
        Name = 1 "name",
        /// The type of the value.
        Type = 2 "type",
        /// A private key in PEM.
        PrivateKey = 3 "private key",
        /// A JSON web token.
        Jwt = 4 "jwt",
        /// The id of an AWS access key.
        Aws = 5 "aws key",
        /// A token of GitHub.
        GitHub = 6 "github token",
        /// A token of GitLab.
        GitLab = 7 "gitlab token",
        /// A token of Slack.
        Slack = 8 "slack token",
        /// A key of Google's APIs.
        Google = 9 "google key",
        /// A key of `OpenAI`, Anthropic and others that begin with `sk-`.
        OpenAi = 10 "api key",
        /// A key of Stripe.
        Stripe = 11 "stripe key",
        /// A token of npm.
        Npm = 12 "npm token",
        /// A token of Hugging Face.
        HuggingFace = 13 "hugging face token",
        /// A token of `PyPI`.
        PyPi = 14 "pypi token",
        /// A key or a signature of Azure's storage.
        Azure = 15 "azure key",
        /// What follows `Bearer`.
        Bearer = 16 "bearer token",
        /// What follows `Basic`.
        Basic = 17 "basic auth",
        /// The password in the address of something.
        Address = 18 "password",
        /// The number of a payment card.
        Card = 19 "card number",
        /// An e-mail address; only if the settings ask for it.
        EMail = 20 "e-mail",
    }
}

/// A pattern of the settings that is no regular expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no regular expression: {reason}")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Finds and replaces what is secret.
///
/// ```
/// use telemetry_core::redaction::Redactor;
/// use telemetry_core::settings::Settings;
///
/// let redactor = Redactor::new(&Settings::default().redaction)?.expect("redaction is on by default");
/// assert_eq!(redactor.text("login with password=hunter2 failed"), "login with password=[redacted:password] failed");
/// assert_eq!(redactor.text("12 tokens by the author"), "12 tokens by the author");
/// assert_eq!(redactor.name("userPassword"), Some("password"));
/// assert_eq!(redactor.name("tokenizer"), None);
/// # Ok::<(), telemetry_core::redaction::PatternError>(())
/// ```
#[derive(Debug)]
pub struct Redactor {
    names: Names,
    patterns: Vec<Regex>,
    /// A bit for each rule by its code.
    rules: u32,
}

impl Redactor {
    /// What the settings ask for; none where they switch redaction off.
    pub fn new(settings: &settings::Redaction) -> Result<Option<Self>, PatternError> {
        if !settings.enabled {
            return Ok(None);
        }
        let patterns = settings.patterns.iter().map(|pattern| compile(pattern)).collect::<Result<_, _>>()?;
        let mut redactor = Self { names: Names::new(settings), patterns, rules: u32::MAX };
        if !settings.email {
            redactor = redactor.without(Rule::EMail);
        }
        Ok(Some(redactor))
    }

    /// The same without one of the built-in rules, to show that it is needed.
    #[doc(hidden)]
    pub fn without(mut self, rule: Rule) -> Self {
        if rule == Rule::Name {
            self.names.without_built_in();
        }
        self.rules &= !(1 << rule.code());
        self
    }

    #[inline]
    fn has(&self, rule: Rule) -> bool {
        self.rules & 1 << rule.code() != 0
    }

    /// The kind of secret that a name announces, if it does.
    pub fn name(&self, name: &str) -> Option<&'static str> {
        self.names.kind_of(name.as_bytes())
    }

    fn name_in_text(&self, name: &[u8]) -> Option<&'static str> {
        self.names.kind_of(name)
    }

    /// The kind of secret that the name of a type announces, if it does.
    pub fn type_name(&self, name: &str) -> Option<&'static str> {
        let is_secret = self.has(Rule::Type) && types::is_secret(name, &self.names);
        is_secret.then_some(Rule::Type.as_str())
    }

    /// The text with what is secret in it replaced.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.replaced(text.as_bytes()) {
            // Secrets begin and end between characters; should one not, nothing of the text is to be trusted.
            Some(bytes) => String::from_utf8(bytes).unwrap_or_else(|_| "[redacted:text]".to_owned()).into(),
            None => Cow::Borrowed(text),
        }
    }

    /// Whether a text is seen at one look to have nothing secret in it.
    #[inline]
    pub(crate) fn is_plain(&self, text: &[u8]) -> bool {
        self.patterns.is_empty() && is_plain(text)
    }

    /// The bytes with what is secret in them replaced; none where there is nothing. Patterns of the settings look at
    /// bytes only where they are UTF-8.
    #[inline]
    pub fn replaced(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut findings = scan(self, text);
        if !self.patterns.is_empty() {
            self.add_patterns(text, &mut findings);
        }
        if findings.is_empty() { None } else { Some(replace(text, &findings)) }
    }

    #[cold]
    fn add_patterns(&self, text: &[u8], findings: &mut Vec<Finding>) {
        let Ok(text) = str::from_utf8(text) else { return };
        let matches = self.patterns.iter().flat_map(|pattern| pattern.find_iter(text));
        let matches = matches.filter(|found| !found.is_empty());
        findings.extend(matches.map(|found| Finding {
            start: found.start(),
            end: found.end(),
            kind: "pattern",
        }));
        findings.sort_by_key(|finding| (finding.start, finding.end));
    }
}

/// Compiles a pattern of the settings.
pub(crate) fn compile(pattern: &str) -> Result<Regex, PatternError> {
    let error =
        |error: regex_lite::Error| PatternError { pattern: pattern.to_owned(), reason: error.to_string() };
    Regex::new(pattern).map_err(error)
}

fn replace(text: &[u8], findings: &[Finding]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(text.len());
    let mut at = 0;
    for finding in findings {
        // One that begins within another only makes it longer.
        if finding.start >= at {
            replaced.extend_from_slice(&text[at..finding.start]);
            replaced.extend_from_slice(MARK);
            replaced.extend_from_slice(finding.kind.as_bytes());
            replaced.push(b']');
        }
        at = at.max(finding.end);
    }
    replaced.extend_from_slice(&text[at..]);
    replaced
}
