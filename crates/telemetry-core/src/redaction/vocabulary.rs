//! The words that make a name secret, and those that take it back.
//!
//! A name is judged by whole words: `tokenizer`, `author`, `secretary` and `n_tokens` are none of ours. A kind is what
//! the marker says in place of the value.

use super::split::Words;

/// What makes a key secret; a public, primary or sorting one is not.
const KEYS_OF: &[&str] = &[
    "api",
    "access",
    "private",
    "secret",
    "signing",
    "encryption",
    "decryption",
    "master",
    "account",
    "auth",
    "ssh",
    "shared",
    "storage",
    "subscription",
    "license",
    "deploy",
    "consumer",
    "hmac",
    "aes",
    "rsa",
];
/// What a `pass` belongs to when it is a password, and not one over the data.
const WITH_PASSWORD: &[&str] = &[
    "user", "db", "database", "mysql", "pg", "postgres", "redis", "smtp", "ftp", "mail", "email", "admin",
    "root", "login", "ssh", "http", "proxy", "ldap", "key", "keystore",
];
/// Names that begin so ask whether there is a secret, or how many.
const QUESTIONS: &[&str] = &[
    "has", "is", "use", "uses", "num", "n", "require", "requires", "needs", "supports", "allow", "allows",
    "max", "min",
];
/// Names that end so describe a secret.
const PROPERTIES: &[&str] = &[
    "len",
    "length",
    "count",
    "counts",
    "size",
    "sizes",
    "type",
    "types",
    "kind",
    "name",
    "names",
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "dir",
    "folder",
    "url",
    "uri",
    "endpoint",
    "index",
    "idx",
    "limit",
    "max",
    "min",
    "policy",
    "ttl",
    "expiry",
    "expires",
    "expiration",
    "age",
    "timeout",
    "attempts",
    "version",
    "format",
    "pattern",
    "regex",
    "prefix",
    "suffix",
    "field",
    "fields",
    "column",
    "label",
    "required",
    "enabled",
    "disabled",
    "valid",
    "exists",
    "present",
    "at",
    "domain",
    "jar",
    "store",
    "provider",
    "strength",
    "prompt",
];
/// Before `token`: a piece of text or of code, a page, a cancellation.
const PIECES: &[&str] = &[
    "eos",
    "bos",
    "pad",
    "unk",
    "sep",
    "cls",
    "mask",
    "next",
    "prev",
    "previous",
    "current",
    "cur",
    "start",
    "end",
    "stop",
    "special",
    "first",
    "last",
    "image",
    "begin",
    "eof",
    "peek",
    "peeked",
    "lookahead",
    "trailing",
    "leading",
    "open",
    "close",
    "per",
    "page",
    "continuation",
    "cancel",
    "cancellation",
    "semi",
    "comma",
    "paren",
    "brace",
    "bracket",
    "dot",
    "eq",
    "bang",
    "fn",
    "and",
    "or",
];
/// After `token`: the same.
const OF_PIECES: &[&str] = &[
    "id",
    "ids",
    "budget",
    "usage",
    "rate",
    "position",
    "pos",
    "offset",
    "span",
    "stream",
    "streams",
    "tree",
    "trees",
    "embedding",
    "embeddings",
    "logits",
    "prob",
    "probs",
    "indices",
    "iter",
    "set",
    "bucket",
    "list",
    "vec",
    "range",
    "text",
    "mask",
    "cost",
    "price",
    "start",
    "end",
];

/// The kind of secret that a name announces, by the built-in words.
pub(super) fn kind_of(words: &Words) -> Option<&'static str> {
    let secret = |index| kind_at(words, index).filter(|kind| !is_about(words, index, kind));
    (0..words.count()).find_map(secret)
}

fn kind_at(words: &Words, index: usize) -> Option<&'static str> {
    let word = words.word(index);
    let before = if index == 0 { b"" } else { words.word(index - 1) };
    single(word).or_else(|| compound(word)).or_else(|| pair(before, word)).or_else(|| alone(words, index))
}

/// Words that are secret wherever they stand in a name.
fn single(word: &[u8]) -> Option<&'static str> {
    Some(match word {
        b"password" | b"passwords" | b"passwd" | b"pwd" | b"passphrase" | b"passcode" => "password",
        b"token" => "token",
        b"credential" | b"credentials" | b"creds" => "credential",
        b"authorization" | b"bearer" => "authorization",
        b"cookie" | b"cookies" | b"phpsessid" | b"jsessionid" => "cookie",
        b"dsn" | b"connstr" => "connection string",
        b"secret" | b"secrets" | b"otp" | b"totp" | b"sas" | b"jwt" | b"psk" | b"cvv" | b"cvc" | b"ssn" => {
            "secret"
        }
        _ => return None,
    })
}

/// Several words written as one, in small letters: `dbpassword`, `clientsecret`, `accesstoken`.
fn compound(word: &[u8]) -> Option<&'static str> {
    const PASSWORDS: [&[u8]; 4] = [b"password", b"passwd", b"passphrase", b"pwd"];
    const TOKENS: [&[u8]; 9] =
        [b"access", b"auth", b"refresh", b"id", b"api", b"csrf", b"xsrf", b"session", b"csrfmiddleware"];
    if word.len() < 6 {
        return None;
    }
    if PASSWORDS.iter().any(|ending| word.ends_with(ending)) {
        return Some("password");
    }
    if word.strip_suffix(b"token").is_some_and(|of| TOKENS.contains(&of)) {
        return Some("token");
    }
    match word {
        b"clientsecret" | b"appsecret" | b"secretkey" => Some("secret"),
        b"connectionstring" => Some("connection string"),
        b"sessionid" => Some("cookie"),
        b"cardnumber" | b"creditcard" => Some("card number"),
        _ => word.strip_suffix(b"key").filter(|of| makes_key_secret(of)).map(|_| "key"),
    }
}

/// Two words that are secret together.
fn pair(before: &[u8], word: &[u8]) -> Option<&'static str> {
    match (before, word) {
        (of, b"key" | b"keys") if makes_key_secret(of) => Some("key"),
        (b"connection" | b"conn", b"string" | b"str") => Some("connection string"),
        (b"session", b"id" | b"key" | b"hash") => Some("cookie"),
        (b"card" | b"cc", b"number" | b"num") | (b"credit", b"card") => Some("card number"),
        (b"seed", b"phrase") | (b"recovery" | b"backup", b"code" | b"codes") | (b"amz", b"signature") => {
            Some("secret")
        }
        (of, b"pass") if has_a_password(of) => Some("password"),
        (b"basic" | b"proxy" | b"http" | b"x" | b"digest", b"auth") => Some("authorization"),
        (b"card" | b"user" | b"sim" | b"atm" | b"login" | b"security", b"pin")
        | (b"pin", b"code" | b"number") => Some("pin"),
        _ => None,
    }
}

/// Words that mean too much elsewhere to be secret as a part of a name.
fn alone(words: &Words, index: usize) -> Option<&'static str> {
    if words.count() != 1 {
        return None;
    }
    match words.word(index) {
        b"auth" => Some("authorization"),
        b"pin" => Some("pin"),
        b"session" => Some("cookie"),
        _ => None,
    }
}

fn makes_key_secret(of: &[u8]) -> bool {
    is_one_of(of, KEYS_OF)
}

fn has_a_password(of: &[u8]) -> bool {
    is_one_of(of, WITH_PASSWORD)
}

/// Whether the name speaks about a secret instead of naming one: its length, its file, whether there is one.
fn is_about(words: &Words, index: usize, kind: &str) -> bool {
    let is_asked_for = words.count() > 1 && index > 0 && is_question(words.word(0));
    let is_described = index + 1 < words.count() && is_property(words.last());
    is_asked_for || is_described || (kind == "token" && is_of_a_language(words, index))
}

fn is_question(word: &[u8]) -> bool {
    is_one_of(word, QUESTIONS)
}

fn is_property(word: &[u8]) -> bool {
    is_one_of(word, PROPERTIES)
}

/// Tokens that are pieces of text, pages or cancellations: nobody logs in with them.
fn is_of_a_language(words: &Words, index: usize) -> bool {
    let before = if index == 0 { b"" } else { words.word(index - 1) };
    let after = if index + 1 < words.count() { words.word(index + 1) } else { b"" };
    is_one_of(before, PIECES) || is_one_of(after, OF_PIECES)
}

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words.iter().any(|known| known.as_bytes() == word)
}
