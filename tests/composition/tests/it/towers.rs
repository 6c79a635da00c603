//! Our client layers among tower's own and tower-http's. Its balancer: `balanced`; a server's
//! limits and queues: `pairs::server`.

mod queued;
mod refused;
mod seen;
mod timed;
