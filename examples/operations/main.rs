//! The retry policy around things that are no HTTP calls: a database transaction that meets
//! another one, and a message for a channel that is full. `cargo run --example operations`.

mod channel;
mod transaction;

use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (balance, attempts) = transaction::transfer().await?;
    println!("transaction: balance {balance} after {attempts} attempts");
    if balance != 70 || attempts < 2 {
        return Err("the transfer should have met the other one, and then succeeded".into());
    }
    let (arrived, attempts) = channel::notify().await?;
    println!("channel:     {arrived:?} after {attempts} attempts");
    if attempts < 2 {
        return Err("the channel should have been full at first".into());
    }
    Ok(())
}
