//! The name of the user from the list of users, for processes whose environment lacks it.
//!
//! Only the file is asked: directory services may take seconds to answer.

use std::fs;
use std::os::unix::fs::MetadataExt;

pub(super) fn name() -> Option<String> {
    let user = fs::metadata("/proc/self").ok()?.uid();
    let users = fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| name_in(line, user)).map(str::to_owned)
}

/// The name in a line `name:password:number:…` of this user.
fn name_in(line: &str, user: u32) -> Option<&str> {
    let mut fields = line.split(':');
    let name = fields.next()?;
    let number: u32 = fields.nth(1)?.parse().ok()?;
    (number == user).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_list() {
        assert_eq!(name_in("ada:x:1000:1000::/home/ada:/bin/sh", 1000), Some("ada"));
        assert_eq!(name_in("ada:x:1000:1000::/home/ada:/bin/sh", 0), None);
        assert_eq!(name_in("+", 0), None);
    }
}
