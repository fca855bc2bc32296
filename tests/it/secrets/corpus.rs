//! Secrets in the forms that the rules know, made up from a seed: the program that plants them and the test that looks
//! for them make the same.

use std::collections::HashSet;

use telemetry_core::redaction::Rule;

/// A secret, and what must not be found of it.
#[derive(Clone, Debug)]
pub(crate) struct Secret {
    pub(crate) rule: Rule,
    /// The secret in a text that gives it away.
    pub(crate) text: String,
    /// The part that is secret.
    pub(crate) needle: String,
}

const BASE62: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE32: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A generator of numbers that are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn of(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.next() as usize % alphabet.len()])).collect()
    }

    /// Letters and digits, at least one of each.
    fn word(&mut self, length: usize) -> String {
        format!("{}7q", self.of(BASE62, length - 2))
    }

    /// Sixteen digits of which the last is the check.
    fn card(&mut self) -> String {
        let mut digits = format!("4{}", self.of(b"0123456789", 14));
        let luhn = digits.bytes().rev().enumerate().map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            if place % 2 == 0 { 2 * digit - if digit > 4 { 9 } else { 0 } } else { digit }
        });
        let check = (10 - luhn.sum::<u32>() % 10) % 10;
        digits.push_str(&check.to_string());
        digits
    }
}

/// So many secrets, the rules in turn.
pub(crate) fn secrets(count: usize) -> Vec<Secret> {
    let mut random = Random(0x5EC7_2E75);
    Rule::ALL.iter().cycle().take(count).map(|rule| secret(*rule, &mut random)).collect()
}

fn secret(rule: Rule, random: &mut Random) -> Secret {
    let (before, needle, after) = match rule {
        Rule::Name => {
            let names =
                ["password=", "api_key: ", "\"clientSecret\":\"", "X-Auth-Token: ", "the access key = "];
            let name = names[random.next() as usize % names.len()];
            (name, random.word(20), if name.contains('"') { "\"" } else { "" })
        }
        Rule::Type => ("Zeroizing(\"", random.word(20), "\")"),
        Rule::PrivateKey => {
            ("-----BEGIN EC PRIVATE KEY-----\n", random.word(64), "\n-----END EC PRIVATE KEY-----")
        }
        Rule::Jwt => {
            let (payload, signature) = (random.word(40), random.word(43));
            ("eyJhbGciOiJIUzI1NiJ9.", format!("{payload}.{signature}"), "")
        }
        Rule::Aws => {
            (if random.next().is_multiple_of(2) { "AKIA" } else { "ASIA" }, random.of(BASE32, 16), "")
        }
        Rule::GitHub => {
            let prefixes = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"];
            (prefixes[random.next() as usize % prefixes.len()], random.word(36), "")
        }
        Rule::GitLab => ("glpat-", random.word(20), ""),
        Rule::Slack => ("xoxb-", format!("{}-{}", random.word(12), random.word(24)), ""),
        Rule::Google => ("AIza", random.word(35), ""),
        Rule::OpenAi => {
            (if random.next().is_multiple_of(2) { "sk-" } else { "sk-proj-" }, random.word(48), "")
        }
        Rule::Stripe => {
            (if random.next().is_multiple_of(2) { "sk_live_" } else { "rk_live_" }, random.word(24), "")
        }
        Rule::Npm => ("npm_", random.word(36), ""),
        Rule::HuggingFace => ("hf_", random.word(34), ""),
        Rule::PyPi => ("pypi-AgEIcHlwaS5vcmc", random.word(120), ""),
        Rule::Azure => ("", random.word(86), "=="),
        Rule::Bearer => ("Bearer ", random.word(24), ""),
        // `user:` and what follows, in base64.
        Rule::Basic => ("Basic dXNlcjpw", random.word(24), ""),
        Rule::Address => ("postgres://user:", random.word(20), "@host/db"),
        Rule::Card => ("", random.card(), ""),
        Rule::EMail => ("", random.word(16), "@example.org"),
        other => panic!("there is no form for {other}"),
    };
    Secret { rule, text: format!("{before}{needle}{after}"), needle }
}

/// Looks for any eight bytes in a row of a secret; of a card number, for all of it, since eight digits are everywhere.
pub(crate) struct Search {
    parts: HashSet<[u8; 8]>,
    cards: HashSet<[u8; 16]>,
    /// A bit for each hash of a part, to pass over most bytes at once.
    bits: Vec<u64>,
}

const BITS: u32 = 22;
const PAGE: usize = 4096;

impl Search {
    pub(crate) fn new(secrets: &[Secret]) -> Self {
        let mut search =
            Self { parts: HashSet::new(), cards: HashSet::new(), bits: vec![0; 1 << (BITS - 6)] };
        for secret in secrets {
            let needle = secret.needle.as_bytes();
            if secret.rule == Rule::Card {
                search.cards.insert(needle.try_into().expect("sixteen digits"));
            } else {
                search.parts.extend(needle.windows(8).map(|part| <[u8; 8]>::try_from(part).expect("eight")));
            }
        }
        let firsts = search.cards.iter().map(|card| <[u8; 8]>::try_from(&card[..8]).expect("eight"));
        for part in search.parts.iter().copied().chain(firsts) {
            let hash = hash(part);
            search.bits[hash / 64] |= 1 << (hash % 64);
        }
        search
    }

    /// What was found, with some of what stands around it.
    pub(crate) fn leaks(&self, bytes: &[u8]) -> Vec<String> {
        let may_be = |at: &usize| {
            let hash = hash(bytes[*at..*at + 8].try_into().expect("eight"));
            self.bits[hash / 64] >> (hash % 64) & 1 == 1 && self.is_leak(bytes, *at)
        };
        let shown = |at: usize| {
            String::from_utf8_lossy(&bytes[at.saturating_sub(60)..(at + 40).min(bytes.len())]).into_owned()
        };
        let pages = (0..bytes.len().saturating_sub(8)).step_by(PAGE);
        // Most of a journal is zeros.
        let pages = pages.filter(|page| bytes[*page..].first_chunk() != Some(&[0; 2 * PAGE]));
        let places = pages.flat_map(|page| page..(page + PAGE).min(bytes.len().saturating_sub(8)));
        places.filter(may_be).take(5).map(shown).collect()
    }

    fn is_leak(&self, bytes: &[u8], at: usize) -> bool {
        let card = bytes.get(at..at + 16).and_then(|digits| <[u8; 16]>::try_from(digits).ok());
        self.parts.contains(&bytes[at..at + 8]) || card.is_some_and(|card| self.cards.contains(&card))
    }
}

fn hash(part: [u8; 8]) -> usize {
    (u64::from_le_bytes(part).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as usize
}

#[test]
fn the_search_finds_what_is_there() {
    let secrets = secrets(1000);
    let search = Search::new(&secrets);
    for secret in &secrets {
        let bytes = format!("some bytes {} and more of them", secret.text);
        assert!(!search.leaks(bytes.as_bytes()).is_empty(), "{}", secret.text);
    }
    assert!(search.leaks(&[b'x'; 1000]).is_empty());
}
