//! Blocks of data in a page, which no browser executes and which no value can end; and the hashes
//! by which the page's policy names its sources.

use serde::Serialize;
use sha2::{Digest, Sha256};

/// A block of data. `id` is ours.
pub(super) fn json_block(id: &str, value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_else(|_| "null".into());
    format!("<script type=\"application/json\" id=\"{id}\">{}</script>\n", escaped(&json))
}

/// Escapes what HTML would look at. In JSON these characters occur in strings only, where they may
/// be written so.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => text += &format!("\\u{:04x}", u32::from(letter)),
            _ => text.push(letter),
        }
    }
    text
}

/// A source as a policy names it.
pub(super) fn source_hash(source: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(source)))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(DIGITS[(bits & 63) as usize]);
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        text.push(digit(bits >> 18));
        text.push(digit(bits >> 12));
        text.push(if chunk.len() > 1 { digit(bits >> 6) } else { '=' });
        text.push(if chunk.len() > 2 { digit(bits) } else { '=' });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_value_ends_its_block() {
        let hostile = "</script><!--<script>&\u{2028}\u{2029}\0\"\\";
        let block = json_block("x", &hostile);
        assert_eq!(
            block,
            "<script type=\"application/json\" id=\"x\">\"\\u003c/script\\u003e\\u003c!--\\u003cscript\\u003e\\u0026\
             \\u2028\\u2029\\u0000\\\"\\\\\"</script>\n"
        );
        let json = block.strip_prefix("<script type=\"application/json\" id=\"x\">").expect("a block");
        let json = json.strip_suffix("</script>\n").expect("its end");
        assert_eq!(serde_json::from_str::<String>(json).expect("json"), hostile);
    }

    #[test]
    fn a_hash_is_the_one_that_browsers_compute() {
        // The example of the Content Security Policy specification.
        assert_eq!(
            source_hash("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
        assert_eq!([base64(b""), base64(b"f"), base64(b"fo"), base64(b"foo")], ["", "Zg==", "Zm8=", "Zm9v"]);
    }
}
