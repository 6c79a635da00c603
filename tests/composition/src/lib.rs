//! What the layers mean together: each pair in both orders (the table in the facade's manual), each
//! alone and in whole stacks over hyper, axum and a function, on real sockets and a real database;
//! see `tests/it`.

/// The examples of the project's README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
