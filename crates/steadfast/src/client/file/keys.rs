use http::{HeaderName, Method};
use serde::Deserialize;
use steadfast_idempotency::KeyFormat;
use steadfast_idempotency::client::{KeyConfig, KeySource, Route, Routes};

use crate::human::{Text, Time};

/// `[keys]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Keys {
    routes: Option<Vec<KeyRoute>>,
    header: Option<Text<HeaderName>>,
    format: Option<Format>,
    source: Option<Source>,
    lifetime: Option<Time>,
}

/// `[[keys.routes]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyRoute {
    destination: String,
    path: Option<String>,
    /// POST and PATCH where none is named.
    method: Option<Text<Method>>,
    header: Option<Text<HeaderName>>,
    format: Option<Format>,
    source: Option<Source>,
    lifetime: Option<Time>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Format {
    Structured,
    Raw,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Source {
    Generate,
    RequireExplicit,
}

impl Keys {
    /// What the profile says, changed by what stands here.
    pub(super) fn said(self, mut keys: KeyConfig) -> Result<KeyConfig, String> {
        if let Some(said) = self.routes {
            let mut routes = Routes::new();
            for (nth, route) in said.into_iter().enumerate() {
                let named = |error| format!("keys.routes, the {}. one: {error}", nth + 1);
                routes = routes.with(route.route().map_err(named)?);
            }
            keys = keys.with_routes(routes);
        }
        if let Some(Text(header)) = self.header {
            keys = keys.with_header(header);
        }
        if let Some(format) = self.format {
            keys = keys.with_format(format.into());
        }
        if let Some(source) = self.source {
            keys = keys.with_source(source.into());
        }
        if let Some(Time(lifetime)) = self.lifetime {
            keys = keys.with_lifetime(lifetime);
        }
        Ok(keys)
    }
}

impl KeyRoute {
    fn route(self) -> Result<Route, String> {
        let (destination, path) = (&self.destination, self.path.as_deref());
        let path = path.unwrap_or("/{*any}");
        let route = match self.method {
            Some(Text(method)) => Route::method(method, destination, path),
            None => Route::write(destination, path),
        };
        let mut route = route.map_err(|error| error.to_string())?;
        if let Some(Text(header)) = self.header {
            route = route.with_header(header);
        }
        if let Some(format) = self.format {
            route = route.with_format(format.into());
        }
        if let Some(source) = self.source {
            route = route.with_source(source.into());
        }
        if let Some(Time(lifetime)) = self.lifetime {
            route = route.with_lifetime(lifetime);
        }
        Ok(route)
    }
}

impl From<Format> for KeyFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Structured => Self::StructuredString,
            Format::Raw => Self::Raw,
        }
    }
}

impl From<Source> for KeySource {
    fn from(source: Source) -> Self {
        match source {
            Source::Generate => Self::Generate,
            Source::RequireExplicit => Self::RequireExplicit,
        }
    }
}
