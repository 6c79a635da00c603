#![doc = include_str!("../README.md")]

pub mod amplify;
pub mod metastable;
pub mod payments;
pub mod python;
pub mod report;
pub mod spread;
pub mod storm;
