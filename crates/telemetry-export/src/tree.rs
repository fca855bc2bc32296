//! A tree as text, from lines in depth-first order.

/// One line of a tree: a caller comes before what it called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// 0 for a root, one more for each caller above.
    pub depth: usize,
    /// What stands in the line; without line breaks.
    pub text: String,
}

/// Draws the lines with branches, each ended by a line break.
///
/// Roots stand at the margin. A line may be deeper than its predecessor by more than one.
///
/// ```
/// use telemetry_export::tree::{Line, draw};
///
/// let line = |depth, text: &str| Line { depth, text: text.into() };
/// let lines = [line(0, "train"), line(1, "epoch"), line(2, "batch"), line(1, "save")];
/// assert_eq!(draw(&lines), "train\n├─ epoch\n│  └─ batch\n└─ save\n");
/// ```
#[must_use]
pub fn draw(lines: &[Line]) -> String {
    let pieces = lines.iter().zip(prefixes(lines)).map(|(line, prefix)| prefix + &line.text + "\n");
    pieces.collect()
}

/// From the last line to the first, because a branch goes on only if a sibling follows.
fn prefixes(lines: &[Line]) -> Vec<String> {
    let mut sibling_follows = Vec::new();
    let mut prefixes: Vec<String> = lines
        .iter()
        .rev()
        .map(|line| {
            sibling_follows.resize(line.depth + 1, false);
            let prefix = prefix(&sibling_follows);
            sibling_follows[line.depth] = true;
            prefix
        })
        .collect();
    prefixes.reverse();
    prefixes
}

fn prefix(sibling_follows: &[bool]) -> String {
    let (own, above) = match sibling_follows {
        [] | [_] => return String::new(),
        [_root, above @ .., own] => (own, above),
    };
    let mut prefix: String = above.iter().map(|follows| if *follows { "│  " } else { "   " }).collect();
    prefix.push_str(if *own { "├─ " } else { "└─ " });
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[(usize, &str)], expected: &str) {
        let lines: Vec<Line> =
            lines.iter().map(|&(depth, text)| Line { depth, text: text.to_owned() }).collect();
        assert_eq!(draw(&lines), expected);
    }

    #[test]
    fn nothing_is_nothing() {
        check(&[], "");
    }

    #[test]
    fn branches_go_on_only_to_siblings() {
        check(
            &[(0, "a"), (1, "b"), (2, "c"), (3, "d"), (2, "e"), (1, "f"), (2, "g"), (0, "h"), (1, "i")],
            "a\n├─ b\n│  ├─ c\n│  │  └─ d\n│  └─ e\n└─ f\n   └─ g\nh\n└─ i\n",
        );
    }

    #[test]
    fn a_missing_caller_leaves_a_gap() {
        check(&[(0, "a"), (2, "b"), (1, "c")], "a\n│  └─ b\n└─ c\n");
        check(&[(1, "a"), (0, "b")], "└─ a\nb\n");
    }
}
