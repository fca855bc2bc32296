//! Keys and tokens whose form alone gives them away. Each function answers where the secret begins and ends.
//!
//! A form is looked at for [`LOOK_BYTES_MAX`] bytes before it is known to be one, so that a text full of beginnings
//! takes no longer than others.

use super::Rule;

/// What was found: the rule, and from where to where.
pub(super) type Found = (Rule, usize, usize);

const LOOK_BYTES_MAX: usize = 1024;

const fn is_base64_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// How many bytes from `start` on are of a kind.
fn count(text: &[u8], start: usize, is_kind: impl Fn(u8) -> bool) -> usize {
    text.get(start..).map_or(0, |rest| rest.iter().take_while(|byte| is_kind(**byte)).count())
}

/// The part of the text that is looked at.
fn look(text: &[u8], start: usize) -> &[u8] {
    text.get(start..).map_or(&[], |rest| &rest[..rest.len().min(LOOK_BYTES_MAX)])
}

/// A text, the place where a secret begins, and where the part of it begins that differs from key to key.
#[derive(Clone, Copy)]
struct Form<'a> {
    text: &'a [u8],
    start: usize,
    body: usize,
}

impl Form<'_> {
    fn skip(self, bytes: usize) -> Self {
        Self { body: self.body + bytes, ..self }
    }

    /// The secret, if so many bytes of a kind follow.
    fn of(self, rule: Rule, least: usize, is_kind: fn(u8) -> bool) -> Option<Found> {
        let first = self.text.get(self.body..self.body + least)?;
        let is_form = first.iter().all(|byte| is_kind(*byte));
        is_form.then(|| (rule, self.start, self.body + count(self.text, self.body, is_kind)))
    }
}

/// Secrets that begin with a run of letters and digits, which is `text[start..end]`.
pub(super) fn in_run(text: &[u8], start: usize, end: usize) -> Option<Found> {
    let run = &text[start..end];
    if run.starts_with(b"AIza") {
        return Form { text, start, body: start + 4 }.of(Rule::Google, 35, is_base64_url);
    }
    if run.len() >= 20 { aws(run, start) } else { None }
}

/// The id of an access key; the key that belongs to it is found by its name.
fn aws(run: &[u8], start: usize) -> Option<Found> {
    let is_key = |at: &usize| {
        let key = &run[*at..*at + 20];
        matches!(&key[..4], b"AKIA" | b"ASIA" | b"ABIA" | b"ACCA")
            && key[4..].iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let at = (0..=run.len() - 20).find(is_key)?;
    Some((Rule::Aws, start + at, start + at + 20))
}

/// Three or five parts with dots between them, the first of them JSON; else where the look ended. A text that ends
/// within a long first part may have been longer.
pub(super) fn web_token(text: &[u8], start: usize) -> Result<Found, usize> {
    let mut end = start;
    let mut parts = [0usize; 5];
    for part in &mut parts {
        *part = count(text, end, is_base64_url);
        end += *part;
        if text.get(end) != Some(&b'.') {
            break;
        }
        end += 1;
    }
    let is_token = parts[0] >= 10 && parts[1] >= 10;
    let is_start_of_one = end == text.len() && parts[0] >= 128;
    if is_token || is_start_of_one { Ok((Rule::Jwt, start, end)) } else { Err(end) }
}

/// Secrets with a prefix that ends in `_` or `-`, which is at `at`; the run before it begins at `start`.
pub(super) fn after_prefix(text: &[u8], start: usize, at: usize) -> Option<Found> {
    let form = Form { text, start, body: at + 1 };
    let rest = &text[at + 1..];
    match (&text[start..at], text[at]) {
        (b"ghp" | b"gho" | b"ghu" | b"ghs" | b"ghr", b'_') => form.of(Rule::GitHub, 30, is_word),
        (b"github", b'_') if rest.starts_with(b"pat_") => form.skip(4).of(Rule::GitHub, 30, is_word),
        (b"sk" | b"rk", b'_') if rest.starts_with(b"live_") || rest.starts_with(b"test_") => {
            form.skip(5).of(Rule::Stripe, 10, is_alphanumeric)
        }
        (b"npm", b'_') => form.of(Rule::Npm, 30, is_alphanumeric),
        (b"hf", b'_') => form.of(Rule::HuggingFace, 30, is_alphanumeric),
        (b"glpat" | b"glptt" | b"gldt" | b"glrt" | b"glcbt" | b"glft", b'-') => {
            form.of(Rule::GitLab, 20, |byte| is_base64_url(byte) || byte == b'.')
        }
        (b"pypi", b'-') => form.of(Rule::PyPi, 50, is_base64_url),
        (b"sk", b'-') => open_ai(form),
        ([b'x', b'o', b'x', _] | b"xapp", b'-') => {
            form.of(Rule::Slack, 10, |byte| is_alphanumeric(byte) || byte == b'-')
        }
        _ => None,
    }
}

/// A long run with digits in it: `sk-learn-estimators` is none.
fn open_ai(form: Form<'_>) -> Option<Found> {
    let body = look(form.text, form.body);
    let token = &body[..count(body, 0, is_base64_url)];
    let longest = token.split(|byte| !byte.is_ascii_alphanumeric()).map(<[u8]>::len).max();
    let is_key = longest >= Some(16) && token.iter().any(u8::is_ascii_digit);
    if is_key { form.of(Rule::OpenAi, 20, is_base64_url) } else { None }
}

/// A private key in PEM that begins at `at`; to its last line, or to the end of the text.
pub(super) fn private_key(text: &[u8], at: usize) -> Option<Found> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const END: &[u8] = b"-----END ";
    const DASHES: &[u8] = b"-----";
    let label = text[at..].strip_prefix(BEGIN)?;
    let label = &label[..label.len().min(64)];
    position(&label[..position(label, DASHES).unwrap_or(label.len())], b"PRIVATE KEY")?;
    let body = at + BEGIN.len();
    let Some(last) = position(&text[body..], END) else { return Some((Rule::PrivateKey, at, text.len())) };
    let line = body + last + END.len();
    let end = position(&text[line..], DASHES).map_or(text.len(), |dashes| line + dashes + DASHES.len());
    Some((Rule::PrivateKey, at, end))
}

fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// The key of a storage account: 64 bytes in base64, whose `==` begins at `at`.
pub(super) fn azure_key(text: &[u8], at: usize) -> Option<Found> {
    let is_end = text.get(at + 1) == Some(&b'=') && text.get(at + 2) != Some(&b'=');
    let start = at.checked_sub(86).filter(|_| is_end)?;
    // A slash before it may be that of a path.
    let goes_on = |before: usize| text[before] != b'/' && is_base64(text[before]);
    let is_key =
        text[start..at].iter().all(|byte| is_base64(*byte)) && !start.checked_sub(1).is_some_and(goes_on);
    // A hash in the form that package managers write.
    let is_hash = text[..start].ends_with(b"sha512-");
    (is_key && !is_hash).then_some((Rule::Azure, start, at + 2))
}

/// The signature of a shared access address: the run before the sign at `at` is `sig`.
pub(super) fn azure_signature(text: &[u8], start: usize, at: usize) -> Option<Found> {
    let is_kind = |byte: u8| is_base64(byte) || matches!(byte, b'%' | b'=' | b'-' | b'_');
    let is_signature = text[start..at].eq_ignore_ascii_case(b"sig");
    let form = Form { text, start: at + 1, body: at + 1 };
    is_signature.then(|| form.of(Rule::Azure, 32, is_kind))?
}

/// What follows `Bearer` or `Basic`, the run before the space at `at`.
pub(super) fn after_scheme(text: &[u8], start: usize, at: usize) -> Option<Found> {
    let scheme = &text[start..at];
    let body = at + count(text, at, |byte| byte == b' ');
    let is_token = |byte: u8| is_base64(byte) || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'=');
    let token = &text[body..body + count(text, body, is_token)];
    let rule = if scheme.eq_ignore_ascii_case(b"bearer") {
        let is_key = token.len() >= 16 || (token.len() >= 8 && token.iter().any(u8::is_ascii_digit));
        is_key.then_some(Rule::Bearer)
    } else {
        (scheme.eq_ignore_ascii_case(b"basic") && holds_a_colon(token)).then_some(Rule::Basic)
    };
    rule.map(|rule| (rule, body, body + token.len()))
}

/// Whether base64 holds a name and a password.
fn holds_a_colon(token: &[u8]) -> bool {
    let mut bits = 0u32;
    let mut is_found = false;
    for (index, byte) in token.iter().take_while(|byte| **byte != b'=').enumerate() {
        let Some(value) = base64_value(*byte) else { return false };
        bits = bits << 6 | u32::from(value);
        let is_colon = |left: u32| (bits >> left) as u8 == b':';
        is_found |= match index % 4 {
            0 => false,
            1 => is_colon(4),
            2 => is_colon(2),
            _ => is_colon(0),
        };
    }
    is_found
}

const fn base64_value(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// The password in `scheme://user:password@host`, or a long key in place of the user; `at` is the colon after the
/// scheme.
pub(super) fn in_address(text: &[u8], at: usize) -> Option<Found> {
    let start = at + 3;
    let rest = look(text, start);
    let rest = &rest[..count(rest, 0, |byte| !is_after_address(byte))];
    let authority = count(rest, 0, |byte| !matches!(byte, b'/' | b'?' | b'#'));
    let last_sign = |part: &[u8]| part.iter().rposition(|byte| *byte == b'@');
    let sign = match last_sign(&rest[..authority]) {
        Some(sign) => sign,
        // A password with a slash in it that nobody escaped; a port is none.
        None => last_sign(rest).filter(|_| !has_port(&rest[..authority]))?,
    };
    match rest[..sign].iter().position(|byte| *byte == b':') {
        Some(colon) => (colon + 1 < sign).then_some((Rule::Address, start + colon + 1, start + sign)),
        None => (sign >= 20 && sign < authority).then_some((Rule::Address, start, start + sign)),
    }
}

fn has_port(authority: &[u8]) -> bool {
    let colon = authority.iter().position(|byte| *byte == b':');
    colon.is_none_or(|colon| authority[colon + 1..].iter().all(u8::is_ascii_digit))
}

const fn is_after_address(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}

/// An e-mail address around the sign at `at`.
pub(super) fn e_mail(text: &[u8], at: usize) -> Option<Found> {
    let is_local =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-');
    let local = text[..at].iter().rev().take(64).take_while(is_local).count();
    let host = look(text, at + 1);
    let host = &host[..count(host, 0, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))];
    let host = host.strip_suffix(b".").unwrap_or(host);
    let is_address = local > 0 && host.iter().skip(1).any(|byte| *byte == b'.');
    is_address.then_some((Rule::EMail, at - local, at + 1 + host.len()))
}
