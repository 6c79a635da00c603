/// Whether a layer acts on what it decides.
///
/// ```
/// use steadfast_admission::breaker::BreakerConfig;
/// use steadfast_admission::{BreakerLayer, Mode};
///
/// let config = BreakerConfig::default();
/// assert_eq!(config.mode(), Mode::Enforced);
/// let off = BreakerLayer::new(config.with_mode(Mode::Off));
/// # let _ = off;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It does.
    #[default]
    Enforced,
    /// It decides and tells, and lets every call pass: to see what a setting would do.
    Shadow,
    /// It is as if it were not there: it decides nothing, tells nothing and counts nothing, looks
    /// up no destination, reads no clock and allocates nothing. The types of service, future and
    /// body stay the same, so that a setting can switch a layer off in a stack that is built
    /// already.
    Off,
}
