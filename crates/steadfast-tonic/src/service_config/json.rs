//! A place in a JSON document, which knows its path for the error.

use std::time::Duration;

use serde_json::{Map, Value};

use super::InvalidServiceConfig;

pub(super) struct At<'a> {
    path: String,
    value: &'a Value,
}

type Read<T> = Result<T, InvalidServiceConfig>;

/// protobuf's Duration: at most 10,000 years.
const MAX_SECONDS: u64 = 315_576_000_000;

impl<'a> At<'a> {
    pub(super) const fn root(value: &'a Value) -> Self {
        Self {
            path: String::new(),
            value,
        }
    }

    pub(super) fn broken(&self, rule: impl Into<String>) -> InvalidServiceConfig {
        InvalidServiceConfig::new(&self.path, rule)
    }

    fn is_not(&self, wanted: &str) -> InvalidServiceConfig {
        self.broken(format!("{} is not {wanted}", self.value))
    }

    pub(super) fn object(&self) -> Read<&'a Map<String, Value>> {
        self.value
            .as_object()
            .ok_or_else(|| self.is_not("an object"))
    }

    pub(super) fn array(&self) -> Read<Vec<Self>> {
        let list = self.value.as_array().ok_or_else(|| self.is_not("a list"))?;
        let at = |(index, value)| At {
            path: format!("{}[{index}]", self.path),
            value,
        };
        Ok(list.iter().enumerate().map(at).collect())
    }

    /// This field; null is as good as absent, as protobuf's JSON has it.
    pub(super) fn field(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        let path = match &*self.path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        Some(At { path, value })
    }

    /// This field, which must be there.
    pub(super) fn required(&self, name: &str) -> Read<Self> {
        let field = self.field(name);
        field.ok_or_else(|| self.broken(format!("`{name}` is missing")))
    }

    pub(super) fn text(&self) -> Read<&'a str> {
        self.value.as_str().ok_or_else(|| self.is_not("a string"))
    }

    pub(super) fn bool(&self) -> Read<bool> {
        self.value
            .as_bool()
            .ok_or_else(|| self.is_not("true or false"))
    }

    pub(super) fn number(&self) -> Read<f64> {
        self.value.as_f64().ok_or_else(|| self.is_not("a number"))
    }

    /// A whole number; protobuf's JSON lets `4.0` be one.
    pub(super) fn whole(&self) -> Read<u32> {
        let number = self.number()?;
        match number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) {
            true => Ok(number as u32),
            false => Err(self.is_not("a whole number")),
        }
    }

    /// The value's own form, for lists that take names and numbers.
    pub(super) const fn value(&self) -> &'a Value {
        self.value
    }

    /// A duration as protobuf's JSON writes it: decimal seconds with up to nine digits after the
    /// point, and an `s`.
    pub(super) fn duration(&self) -> Read<Duration> {
        let wrong = || self.is_not("a duration such as \"1.5s\"");
        let text = self.text()?.strip_suffix('s').ok_or_else(wrong)?;
        let (seconds, fraction) = match text.split_once('.') {
            // gRFC A6 itself writes ".1s".
            Some(("", fraction)) => ("0", fraction),
            Some(parts) => parts,
            None => (text, "0"),
        };
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
            return Err(wrong());
        }
        let seconds = seconds
            .parse()
            .ok()
            .filter(|seconds| *seconds <= MAX_SECONDS);
        let nanos = format!("{fraction:0<9}").parse().ok();
        let (Some(seconds), Some(nanos)) = (seconds, nanos) else {
            return Err(wrong());
        };
        Ok(Duration::new(seconds, nanos))
    }

    /// A duration that is more than nothing.
    pub(super) fn positive_duration(&self) -> Read<Duration> {
        let duration = self.duration()?;
        match duration.is_zero() {
            true => Err(self.broken("it must be more than zero")),
            false => Ok(duration),
        }
    }
}
