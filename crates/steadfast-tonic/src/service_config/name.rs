//! What a method config applies to.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};

use super::InvalidServiceConfig;
use super::json::At;

/// A method, or with no method a service, or with neither everything.
#[derive(Clone, Debug)]
pub(super) struct Name {
    service: Box<str>,
    method: Box<str>,
}

impl Name {
    pub(super) fn read(at: &At<'_>) -> Result<Self, InvalidServiceConfig> {
        at.object()?;
        let part = |name| -> Result<Box<str>, InvalidServiceConfig> {
            let field = at.field(name).map(|field| field.text()).transpose()?;
            Ok(field.unwrap_or_default().into())
        };
        let (service, method) = (part("service")?, part("method")?);
        match service.is_empty() && !method.is_empty() {
            true => Err(at.broken("a method without its service")),
            false => Ok(Self { service, method }),
        }
    }
}

/// A name by its two parts, wherever they are: so that looking one up copies nothing.
pub(super) trait Named {
    fn parts(&self) -> (&str, &str);
}

impl Named for Name {
    fn parts(&self) -> (&str, &str) {
        (&self.service, &self.method)
    }
}

impl Named for (&str, &str) {
    fn parts(&self) -> (&str, &str) {
        *self
    }
}

impl<'a> Borrow<dyn Named + 'a> for Name {
    fn borrow(&self) -> &(dyn Named + 'a) {
        self
    }
}

impl Hash for dyn Named + '_ {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl PartialEq for dyn Named + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for dyn Named + '_ {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Name {}
