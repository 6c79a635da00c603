use serde::Deserialize;
use steadfast_admission::Mode;

/// Whether a layer acts.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Acts {
    Enforced,
    Shadow,
    Off,
}

impl From<Acts> for Mode {
    fn from(acts: Acts) -> Self {
        match acts {
            Acts::Enforced => Self::Enforced,
            Acts::Shadow => Self::Shadow,
            Acts::Off => Self::Off,
        }
    }
}
