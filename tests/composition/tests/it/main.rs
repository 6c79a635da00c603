//! Whole stacks on real sockets and a real database.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod admission;
mod answers;
mod any_order;
mod balanced;
mod breaker;
mod deadline_client;
mod deadline_client_streams;
mod deadline_server;
mod field_cases;
mod hints;
mod hostile;
mod killed_client;
mod lost_replies;
mod manual;
mod matrix;
mod misordered;
mod one_key;
mod one_shot;
mod pairs;
mod payments;
mod readable_errors;
mod sockets_amplified;
mod sockets_bodies;
mod sockets_breaker;
mod sockets_grpc;
mod sockets_http2;
mod sockets_keyed;
mod sockets_reqwest;
mod sockets_reused;
mod sockets_split;
mod sockets_uploads;
mod stack;
mod towers;
