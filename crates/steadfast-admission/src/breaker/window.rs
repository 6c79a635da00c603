use std::error::Error;
use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

/// The time over which calls are counted: 30 s, which holds three attempts of the default timeout,
/// so that calls which all hang are seen together.
pub const DEFAULT_WINDOW: Duration = Duration::from_secs(30);
/// Calls that must be in the window before anything is judged: 20, as in Hystrix. Below that one
/// unlucky pair of failures would close a quiet destination to everybody.
pub const DEFAULT_MINIMUM: NonZeroU32 = NonZeroU32::new(20).expect("20 is not zero");

/// The calls that a breaker judges by: those of the last while, or the last so many.
///
/// A window of time slides by a tenth of itself; a window of calls slides by one call. Neither
/// costs more the more calls it holds: time takes 256 bytes for each thread that calls at once,
/// calls take two bits each.
///
/// ```
/// use std::num::NonZeroU32;
/// use std::time::Duration;
/// use steadfast_admission::breaker::Window;
///
/// let window = Window::default();
/// assert_eq!(window, Window::time(Duration::from_secs(30)));
/// assert_eq!(window.minimum().get(), 20);
///
/// let five = NonZeroU32::new(5).unwrap();
/// let ten = NonZeroU32::new(10).unwrap();
/// let window = Window::calls(five)?;
/// assert_eq!(window.minimum(), five);
/// let error = window.with_minimum(ten).unwrap_err();
/// assert_eq!(error.to_string(), "a minimum of 10 calls is never met by a window of 5 calls");
/// # Ok::<(), steadfast_admission::breaker::InvalidWindow>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    span: Span,
    minimum: NonZeroU32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    Time(Duration),
    Calls(NonZeroU32),
}

impl Default for Window {
    fn default() -> Self {
        Self::time(DEFAULT_WINDOW)
    }
}

impl Window {
    /// The most calls that a window can be told to hold: 1,000,000, which take 250 kB for each
    /// destination.
    pub const MAX_CALLS: u32 = 1_000_000;

    /// The calls of the last while; shorter than 100 ms counts as 100 ms.
    pub const fn time(time: Duration) -> Self {
        Self {
            span: Span::Time(time),
            minimum: DEFAULT_MINIMUM,
        }
    }

    /// The last so many calls, and as many as the minimum where [`DEFAULT_MINIMUM`] is more.
    ///
    /// # Errors
    ///
    /// For more than [`Self::MAX_CALLS`].
    pub const fn calls(calls: NonZeroU32) -> Result<Self, InvalidWindow> {
        if calls.get() > Self::MAX_CALLS {
            return Err(InvalidWindow(Rule::TooManyCalls(calls)));
        }
        let minimum = match calls.get() < DEFAULT_MINIMUM.get() {
            true => calls,
            false => DEFAULT_MINIMUM,
        };
        Ok(Self {
            span: Span::Calls(calls),
            minimum,
        })
    }

    /// Sets how many calls must be in the window before anything is judged. Default:
    /// [`DEFAULT_MINIMUM`].
    ///
    /// # Errors
    ///
    /// Where a window of calls can never hold as many.
    pub const fn with_minimum(mut self, minimum: NonZeroU32) -> Result<Self, InvalidWindow> {
        if let Span::Calls(calls) = self.span {
            if minimum.get() > calls.get() {
                return Err(InvalidWindow(Rule::MinimumNeverMet { minimum, calls }));
            }
        }
        self.minimum = minimum;
        Ok(self)
    }

    /// How many calls must be in the window before anything is judged.
    pub const fn minimum(&self) -> NonZeroU32 {
        self.minimum
    }

    /// The time that the window holds, if it is one of time.
    pub const fn as_time(&self) -> Option<Duration> {
        match self.span {
            Span::Time(time) => Some(time),
            Span::Calls(_) => None,
        }
    }

    /// The calls that the window holds, if it is one of calls.
    pub const fn as_calls(&self) -> Option<NonZeroU32> {
        match self.span {
            Span::Time(_) => None,
            Span::Calls(calls) => Some(calls),
        }
    }

    pub(super) const fn span(&self) -> Span {
        self.span
    }
}

/// A window that could never judge, or that would hold too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidWindow(Rule);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    TooManyCalls(NonZeroU32),
    MinimumNeverMet {
        minimum: NonZeroU32,
        calls: NonZeroU32,
    },
}

impl fmt::Display for InvalidWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Rule::TooManyCalls(calls) => {
                let max = Window::MAX_CALLS;
                write!(f, "a window of {calls} calls is above the most, {max}")
            }
            Rule::MinimumNeverMet { minimum, calls } => write!(
                f,
                "a minimum of {minimum} calls is never met by a window of {calls} calls"
            ),
        }
    }
}

impl Error for InvalidWindow {}
