use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use http::{Method, StatusCode};
use redis::{FromRedisValue, Value};
use steadfast_idempotency::server::leased::{Claimed, Fence, Fenced, Seen};
use steadfast_idempotency::server::{Answer, Fingerprint, Record, StoreError};

/// What a script answered: a word, and what belongs to it.
pub(crate) struct Reply {
    word: String,
    rest: std::vec::IntoIter<Value>,
}

/// A record that this version cannot have written.
#[derive(Debug)]
struct Unreadable(&'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a stored record cannot be read: {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

fn unreadable(what: &'static str) -> StoreError {
    StoreError::unavailable(Unreadable(what))
}

impl Reply {
    pub(crate) fn new(values: Vec<Value>) -> Result<Self, StoreError> {
        let mut rest = values.into_iter();
        let word = rest.next().ok_or_else(|| unreadable("an empty answer"))?;
        let word = String::from_redis_value(word).map_err(StoreError::unavailable)?;
        match word.as_str() {
            "version" => Err(unreadable("its layout is another version's")),
            _ => Ok(Self { word, rest }),
        }
    }

    pub(crate) fn claimed(mut self) -> Result<Claimed, StoreError> {
        Ok(match self.word.as_str() {
            "held" => Claimed::Held {
                fence: self.fence()?,
                attempt: self.number()?,
            },
            "running" => Claimed::Running { left: self.left()? },
            "unknown" => Claimed::Unknown {
                fence: self.fence()?,
                attempt: self.number()?,
            },
            "reused" => Claimed::Reused,
            "done" => Claimed::Done(self.record()?),
            _ => return Err(unreadable("no answer to a claim")),
        })
    }

    pub(crate) fn fenced(self) -> Result<Fenced, StoreError> {
        match self.word.as_str() {
            "accepted" => Ok(Fenced::Accepted),
            "rejected" => Ok(Fenced::Rejected),
            _ => Err(unreadable("no answer to a change")),
        }
    }

    pub(crate) fn seen(mut self) -> Result<Option<Seen>, StoreError> {
        Ok(match self.word.as_str() {
            "none" => None,
            "running" => {
                let left = self.left()?;
                Some(Seen::Running {
                    left,
                    fence: self.fence()?,
                    attempt: self.number()?,
                    fingerprint: self.fingerprint()?,
                })
            }
            "unknown" => Some(Seen::Unknown {
                fence: self.fence()?,
                attempt: self.number()?,
                fingerprint: self.fingerprint()?,
            }),
            "done" => Some(Seen::Done(self.record()?)),
            _ => return Err(unreadable("no answer to a look")),
        })
    }

    fn record(&mut self) -> Result<Record, StoreError> {
        let fingerprint = self.fingerprint()?;
        let status = StatusCode::from_u16(self.number()?);
        let status = status.map_err(|_| unreadable("its status is none"))?;
        let headers = Answer::decode_headers(&self.bytes()?).map_err(StoreError::unavailable)?;
        let mut answer = Answer::new(status, self.bytes()?).with_headers(headers);
        let (method, path): (Option<String>, Option<String>) = (self.maybe()?, self.maybe()?);
        if let (Some(method), Some(path)) = (method, path) {
            let method = Method::from_str(&method).map_err(StoreError::unavailable)?;
            answer = answer.with_origin(method, path);
        }
        Ok(Record::new(fingerprint, answer))
    }

    fn fingerprint(&mut self) -> Result<Fingerprint, StoreError> {
        const WRONG: &str = "its fingerprint has a wrong length";
        let bytes = self.bytes()?;
        let (algorithm, digest) = bytes.split_first().ok_or_else(|| unreadable(WRONG))?;
        let digest = digest.try_into().map_err(|_| unreadable(WRONG))?;
        Ok(Fingerprint::new(*algorithm, digest))
    }

    fn fence(&mut self) -> Result<Fence, StoreError> {
        self.number().map(Fence::new)
    }

    fn left(&mut self) -> Result<Duration, StoreError> {
        self.number().map(Duration::from_millis)
    }

    fn number<T: FromStr>(&mut self) -> Result<T, StoreError> {
        let text: Option<String> = self.maybe()?;
        let number = text.and_then(|text| text.parse().ok());
        number.ok_or_else(|| unreadable("a number is none"))
    }

    fn bytes(&mut self) -> Result<Vec<u8>, StoreError> {
        let bytes: Option<Vec<u8>> = self.maybe()?;
        bytes.ok_or_else(|| unreadable("a field is missing"))
    }

    fn maybe<T: FromRedisValue>(&mut self) -> Result<Option<T>, StoreError> {
        let value = self.rest.next().unwrap_or(Value::Nil);
        Option::from_redis_value(value).map_err(StoreError::unavailable)
    }
}

/// A fingerprint as the scripts compare it.
pub(crate) fn fingerprint(of: &Fingerprint) -> Vec<u8> {
    let mut bytes = vec![of.algorithm()];
    bytes.extend_from_slice(of.digest());
    bytes
}
