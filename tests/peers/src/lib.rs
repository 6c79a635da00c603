//! Benches only; see `README.md`.
