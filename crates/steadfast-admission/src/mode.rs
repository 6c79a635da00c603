/// Whether a layer acts on what it decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It does.
    #[default]
    Enforced,
    /// It decides and tells, and lets every call pass: to see what a setting would do.
    Shadow,
}
