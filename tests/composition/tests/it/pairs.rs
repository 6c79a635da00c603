//! What each order of two layers means: every pair, both ways, on a paused clock.
//!
//! `pairs.md` in the facade's manual is the table of it, for users; `table` keeps the two
//! together.

/// These layers, the outermost first, around this service.
macro_rules! stack {
    ($($layer:expr),+; $service:expr) => {
        tower::ServiceBuilder::new()$(.layer($layer))+.service($service.clone())
    };
}

pub(crate) use stack;

/// The same statements over the same two layers in one order and in the other, each made anew.
macro_rules! in_both_orders {
    (
        $(let $name:ident = $made:expr;)+
        stack!($a:expr, $b:expr; $service:expr) => |$stack:ident| $check:block
    ) => {
        {
            $(let $name = $made;)+
            let $stack = stack!($a, $b; $service);
            $check
        }
        {
            $(let $name = $made;)+
            let $stack = stack!($b, $a; $service);
            $check
        }
    };
}

pub(crate) mod asked;
mod attempt_timeout;
mod body_timeout;
mod breaker;
mod budget;
mod bulkhead;
mod call_limit;
mod cooldown;
mod fallback;
mod hint;
mod key;
pub(crate) mod layers;
mod on_sockets;
pub(crate) mod peer;
mod retry;
pub(crate) mod server;
mod table;
pub(crate) mod till;
mod twice;
