//! Times, money, shares and large numbers in few letters. Pure.

use crate::text::{counted, grouped};

/// How long something took: `1.8 ms`, `12.3 s`.
pub(crate) fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms if ms < 99_950.0 => format!("{:.1} s", ms / 1e3),
        ms => format!("{:.0} s", ms / 1e3),
    }
}

/// What something cost: `$0.0123`, `$1.50`.
pub(crate) fn dollars(usd: f64) -> String {
    match usd {
        0.0 => "$0".to_owned(),
        usd if usd < 1.0 => format!("${usd:.4}"),
        usd => format!("${usd:.2}"),
    }
}

/// A share: `0.5 %`, `12 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A number with its thousands apart: `20,000`.
pub(crate) fn number(count: usize) -> String {
    grouped(count as u64)
}

/// A number and its noun: `1 stop`, `20,000 stops`.
pub(crate) fn number_of(count: usize, one: &str, many: &str) -> String {
    counted(count, one, many).replacen(&count.to_string(), &number(count), 1)
}

/// A large number in few letters: `1.2 k`, `3.4 M`.
#[expect(clippy::cast_precision_loss, reason = "only its first digits are shown")]
pub(crate) fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.1} k", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} M", count as f64 / 1e6),
        _ => format!("{:.1} G", count as f64 / 1e9),
    }
}
