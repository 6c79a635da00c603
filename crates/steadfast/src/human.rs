//! Values as people write them in a file.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use steadfast_core::Ratio;

mod acts;
mod header;

pub(crate) use acts::Acts;
pub(crate) use header::Header;

/// What stands for no limit.
const UNLIMITED: &str = "unlimited";

/// A time: `"250ms"`, `"1min 30s"`, or `"unlimited"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time(pub(crate) Duration);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == UNLIMITED {
            return Ok(Self(Duration::MAX));
        }
        let time = humantime::parse_duration(text);
        time.map(Self).map_err(|error| {
            let text = text.escape_debug();
            format!("'{text}' is not a time such as \"250ms\", \"5min\" or \"unlimited\": {error}")
        })
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(
            deserializer,
            "a time such as \"250ms\", \"5min\" or \"unlimited\"",
        )
    }
}

/// A share: `"10%"`, `"0.5%"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share(pub(crate) Ratio);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || {
            let text = text.escape_debug();
            format!("'{text}' is not a share such as \"10%\" or \"0.5%\"")
        };
        let number = text.strip_suffix('%').ok_or_else(invalid)?;
        let percent: f64 = number.trim_end().parse().map_err(|_| invalid())?;
        let ratio = Ratio::try_from(percent / 100.0);
        ratio.map(Self).map_err(|_| invalid())
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer, "a share such as \"10%\"")
    }
}

/// Whatever is written as a text of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Text<T>(pub(crate) T);

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer, "a text").map(Self)
    }
}

/// The value of a text; `expected` says what, where there is something else than a text.
fn text<'de, T, D>(deserializer: D, expected: &'static str) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    struct Parse<T>(&'static str, PhantomData<fn() -> T>);
    impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Parse<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }
    deserializer.deserialize_str(Parse(expected, PhantomData))
}
