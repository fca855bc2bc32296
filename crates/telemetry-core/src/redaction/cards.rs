//! Card numbers: digits of a known issuer in its length, in one run or in groups of four, that pass Luhn's check.

/// Where the card number that begins at `start` ends; none if there is none. A number that goes on before or after is
/// another one.
pub(super) fn end_of(text: &[u8], start: usize) -> Option<usize> {
    if start > 0 && matches!(text[start - 1], b'0'..=b'9' | b'.' | b'_' | b'a'..=b'z' | b'A'..=b'Z') {
        return None;
    }
    if start > 1 && is_separator(text[start - 1]) && text[start - 2].is_ascii_digit() {
        return None;
    }
    let mut digits = [0; 19];
    let (count, end) = collect(&text[start..], &mut digits)?;
    let digits = &digits[..count];
    (is_issued(digits) && passes_luhn(digits)).then_some(start + end)
}

/// The digits, and where they end: groups of four, or no separators at all; Amex has 4, 6 and 5.
fn collect(text: &[u8], digits: &mut [u8; 19]) -> Option<(usize, usize)> {
    let (mut count, mut group, mut groups, mut at) = (0, 0, [0u8; 5], 0);
    let separator = text.get(4).copied().filter(|byte| is_separator(*byte));
    while let Some(byte) = text.get(at) {
        if byte.is_ascii_digit() {
            *digits.get_mut(count)? = byte - b'0';
            *groups.get_mut(group)? += 1;
            count += 1;
        } else if Some(*byte) == separator && text.get(at + 1).is_some_and(u8::is_ascii_digit) {
            group += 1;
        } else {
            break;
        }
        at += 1;
    }
    let goes_on = text.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        || (text.get(at) == Some(&b'.') && text.get(at + 1).is_some_and(u8::is_ascii_digit));
    let is_grouped_well = matches!(groups, [_, 0, 0, 0, 0] | [4, 4, 4, 4, 0 | 3] | [4, 6, 4 | 5, 0, 0]);
    (!goes_on && is_grouped_well).then_some((count, at))
}

const fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'-')
}

fn is_issued(digits: &[u8]) -> bool {
    let number =
        |length: usize| digits.iter().take(length).fold(0u32, |sum, digit| sum * 10 + u32::from(*digit));
    let (two, three, four) = (number(2), number(3), number(4));
    match digits.len() {
        13 | 19 if digits[0] == 4 => true,
        14 => matches!(three, 300..=305) || matches!(two, 36 | 38),
        15 => matches!(two, 34 | 37),
        16 => {
            digits[0] == 4
                || matches!(two, 51..=55 | 62 | 65)
                || matches!(three, 644..=649)
                || matches!(four, 2221..=2720 | 3528..=3589 | 6011)
        }
        17..=19 => two == 62,
        _ => false,
    }
}

fn passes_luhn(digits: &[u8]) -> bool {
    let doubled = |digit: u8| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
    let sum = digits.iter().rev().enumerate();
    let sum: u32 =
        sum.map(|(place, digit)| u32::from(if place % 2 == 1 { doubled(*digit) } else { *digit })).sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_told_from_other_numbers() {
        for (text, expected) in [
            ("4111111111111111", Some(16)),
            ("4111 1111 1111 1111", Some(19)),
            ("4111-1111-1111-1111,", Some(19)),
            ("378282246310005", Some(15)),
            ("3782 822463 10005", Some(17)),
            ("5555555555554444", Some(16)),
            ("6011111111111117", Some(16)),
            ("4111111111111112", None),
            ("1700000000000000000", None),
            ("41111111111111111", None),
            ("4111111111111111.5", None),
            ("4111111111111111abc", None),
            ("4111 111111111111", None),
            ("2024-05-17 10:00", None),
            ("41111111-1111-1111-1111-111111111111", None),
        ] {
            assert_eq!(end_of(text.as_bytes(), 0), expected, "{text}");
        }
        assert_eq!(end_of(b"1-4111-1111-1111-1111", 2), None);
        assert_eq!(end_of(b"x4111111111111111", 1), None);
    }
}
