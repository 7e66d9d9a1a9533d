//! Where files are, taken out of a text: paths in the project are told from its folder on, and of
//! all others the last name only. Pure.

/// A text without the places of this machine. `root` is the project's folder.
pub(super) fn without_places(text: &str, root: Option<&str>) -> String {
    let root = root.map(|root| root.trim_end_matches('/')).filter(|root| !root.is_empty());
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let before = shown.chars().next_back();
        let is_start = before.is_none_or(|before| !is_of_name(before) && !matches!(before, '/' | '\\'));
        if is_start && let Some(inside) = root.and_then(|root| after_root(rest, root)) {
            // What follows goes on as a path in the project.
            let end = inside.find(ends_path).unwrap_or(inside.len());
            shown.push('.');
            shown.push_str(&inside[..end]);
            rest = &inside[end..];
        } else if is_start && is_place(rest) {
            // The colon of a drive does not end its path.
            let drive = if rest[1..].starts_with(':') { 2 } else { 0 };
            let end = rest[drive..].find(ends_path).map_or(rest.len(), |end| drive + end);
            let path = rest[..end].trim_end_matches(['/', '\\']);
            shown.push_str(path.rsplit(['/', '\\']).next().unwrap_or_default());
            rest = &rest[end..];
        } else if let Some(url) = rest.strip_prefix("://") {
            let end = url.find(ends_path).unwrap_or(url.len());
            // A file's URL is a place as well.
            let is_file = shown.ends_with("file");
            shown.push_str("://");
            shown.push_str(if is_file { "" } else { &url[..end] });
            rest = &url[if is_file { 0 } else { end }..];
            if is_file {
                let path = &rest[..end];
                shown.push_str(&without_places(path, root));
                rest = &rest[end..];
            }
        } else {
            shown.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    shown
}

/// What follows the project's folder, if that is what the text begins with, and not another's of a
/// longer name.
fn after_root<'t>(text: &'t str, root: &str) -> Option<&'t str> {
    let inside = text.strip_prefix(root)?;
    let mut next = inside.chars();
    let goes_on = match next.next() {
        // The end of a sentence, or of a name.
        Some('.') => next.next().is_some_and(is_of_name),
        Some(next) => is_of_name(next),
        None => false,
    };
    (!goes_on).then_some(inside)
}

/// Whether a text begins with a path that names a place of the machine: from the root, the home or
/// a drive on, or out of the folder that it is in.
fn is_place(text: &str) -> bool {
    let mut chars = text.chars();
    let (first, second, third) = (chars.next(), chars.next(), chars.next());
    match (first, second) {
        (Some('/'), Some(name)) => is_of_name(name) || name == '.',
        (Some('\\'), Some('\\')) => true,
        (Some('~'), _) => text[1..].trim_start_matches(is_of_name).starts_with('/'),
        (Some('.'), Some('.')) => matches!(third, Some('/' | '\\')),
        (Some(drive), Some(':')) => drive.is_ascii_alphabetic() && matches!(third, Some('/' | '\\')),
        _ => false,
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_')
}

fn ends_path(letter: char) -> bool {
    letter.is_whitespace() || "\"'`()[]{}<>,;:|*?".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_outside_of_the_project_left_the_machine() {
        for (text, expected) in [
            ("see /home/ann/.ssh/config, and `/etc/passwd`", "see config, and `passwd`"),
            ("/home/ann/shop/src/a.rs:7 is a stub", "./src/a.rs:7 is a stub"),
            ("in /home/ann/shop.", "in .."),
            ("\"/home/ann/shop\" has it", "\".\" has it"),
            ("/home/ann/shop-two/b.rs and /home/ann/shop.bak/c", "b.rs and c"),
            ("~/notes/plan.md, ~ann/x, ../other/d.rs", "plan.md, x, d.rs"),
            (r"C:\Users\ann\a.txt and \\host\share\b", "a.txt and b"),
            ("file:///home/ann/.netrc, https://example.org/a/b", "file://.netrc, https://example.org/a/b"),
            ("and/or, 1/2, src/a.rs, a / b, //", "and/or, 1/2, src/a.rs, a / b, //"),
            ("PATH=/home/ann/bin:/usr/bin", "PATH=bin:bin"),
            ("/home/ann/", "ann"),
            ("päth /häme/änn/ü", "päth ü"),
        ] {
            assert_eq!(without_places(text, Some("/home/ann/shop")), expected, "{text}");
        }
        assert_eq!(without_places("/home/ann/my shop/a b", Some("/home/ann/my shop/")), "./a b");
        assert_eq!(without_places("/home/ann/shop/a", None), "a");
        assert_eq!(without_places("/home/ann/shop/a", Some("/")), "a");
    }

    proptest::proptest! {
        /// Whatever surrounds it, no folder above the last name is left of a foreign path.
        #[test]
        fn no_text_keeps_a_foreign_folder(before in "[ a-z(\"`=,:]{0,6}[ (\"`=,]", after in "[ )\"`,.a-z]{0,8}") {
            let text = format!("{before}/home/secret/x{after}");
            let shown = without_places(&text, Some("/home/ann/shop"));
            proptest::prop_assert!(!shown.contains("secret"), "{}", shown);
        }
    }
}
