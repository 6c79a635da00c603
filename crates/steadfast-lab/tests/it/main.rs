//! What the lab says, against what is written down elsewhere.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod amplify;
mod cli;
mod metastable;
mod payments;
mod python;
mod storm;
