//! Which cards a process may see, by the rules of `CUDA_VISIBLE_DEVICES` and `ROCR_VISIBLE_DEVICES`.

/// The numbers of the visible cards, in the order of the list. An entry is a number, or an id or its
/// beginning. As for the drivers, the first entry that names no card ends the list.
pub(crate) fn visible_numbers(list: Option<&str>, ids: &[Option<String>]) -> Vec<usize> {
    let Some(list) = list else { return (0..ids.len()).collect() };
    let mut visible = Vec::new();
    for number in list.split(',').map_while(|entry| number_of(entry.trim(), ids)) {
        if !visible.contains(&number) {
            visible.push(number);
        }
    }
    visible
}

fn number_of(entry: &str, ids: &[Option<String>]) -> Option<usize> {
    match entry.parse::<usize>() {
        Ok(number) => (number < ids.len()).then_some(number),
        Err(_) => number_of_id(entry, ids),
    }
}

/// An abbreviation counts if it is the beginning of one id only.
fn number_of_id(entry: &str, ids: &[Option<String>]) -> Option<usize> {
    let begins = |id: &Option<String>| id.as_deref().is_some_and(|id| begins_with(id, entry));
    let mut numbers = ids.iter().enumerate().filter(|(_, id)| begins(id)).map(|(number, _)| number);
    numbers.next().filter(|_| !entry.is_empty() && numbers.next().is_none())
}

fn begins_with(id: &str, beginning: &str) -> bool {
    id.as_bytes().get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_all_kinds() {
        let ids = [Some("GPU-aaa1".to_owned()), Some("GPU-aab2".to_owned()), None];
        let check = |list: Option<&str>, expected: &[usize]| {
            assert_eq!(visible_numbers(list, &ids), expected, "{list:?}");
        };
        check(None, &[0, 1, 2]);
        check(Some("2,0"), &[2, 0]);
        check(Some(" 1 , 1,0"), &[1, 0]);
        check(Some("GPU-aab2"), &[1]);
        check(Some("gpu-AAB,0"), &[1, 0]);
        check(Some("GPU-aa,0"), &[]);
        check(Some("0,-1,1"), &[0]);
        check(Some("0,7,1"), &[0]);
        check(Some(""), &[]);
        check(Some("NoDevFiles"), &[]);
    }

    proptest::proptest! {
        #[test]
        fn any_list_is_survived(list: String, id: String) {
            visible_numbers(Some(&list), &[Some(id), None]);
        }
    }
}
