use super::InvalidEndpoint;

/// Which paths an endpoint has.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// What stands between the slashes; `None` is a wildcard.
    segments: Box<[Option<Box<str>>]>,
    /// Whether anything may follow the last slash.
    open: bool,
}

impl Path {
    pub(super) fn parse(text: &str) -> Result<Self, InvalidEndpoint> {
        let invalid = |rule| InvalidEndpoint::new("path", text, rule);
        let Some(rest) = text.strip_prefix('/') else {
            return Err(invalid("it must begin with a slash"));
        };
        if rest
            .bytes()
            .any(|byte| !byte.is_ascii_graphic() || byte == b'?' || byte == b'#')
        {
            return Err(invalid(
                "it must be as on the wire: percent-encoded, without query",
            ));
        }
        let (mut segments, mut open) = (Vec::new(), false);
        for segment in rest.split('/') {
            if open {
                return Err(invalid("nothing may follow '{*rest}'"));
            }
            let name = segment
                .strip_prefix('{')
                .and_then(|name| name.strip_suffix('}'));
            match name {
                Some(name) if name.starts_with('*') => open = true,
                Some(_) => segments.push(None),
                None if segment.contains(['{', '}', '*']) => {
                    return Err(invalid("a wildcard must be '{name}' or a last '{*rest}'"));
                }
                None => segments.push(Some(segment.into())),
            }
        }
        Ok(Self {
            segments: segments.into(),
            open,
        })
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        // An authority-form target has no path; an absolute URI without one means "/".
        let mut given = path.strip_prefix('/').unwrap_or(path).split('/');
        let all = self
            .segments
            .iter()
            .all(|segment| match (segment, given.next()) {
                (Some(want), Some(given)) => **want == *given,
                (None, Some(given)) => !given.is_empty(),
                (_, None) => false,
            });
        all && given.next().is_some() == self.open
    }
}
