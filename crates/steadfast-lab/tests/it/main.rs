//! What the lab says, against what is written down elsewhere.

mod amplify;
mod payments;
mod python;
mod storm;
