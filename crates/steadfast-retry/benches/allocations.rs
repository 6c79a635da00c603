//! How often a call allocates: the rows of `cost`, without its clock.
//!
//! Apart, because counting makes every allocation dearer.
#![allow(missing_docs, reason = "a bench is a program")]

#[path = "cost/rows.rs"]
mod rows;
#[path = "cost/services.rs"]
mod services;

fn main() {
    println!("| call | stack | allocations |");
    println!("|---|---|---|");
    for mut row in rows::all() {
        // The first call reads the environment once for all.
        (row.call)();
        let all = allocation_counter::measure(|| (0..row.calls).for_each(|_| (row.call)()));
        let each = all.count_total as f64 / f64::from(row.calls);
        println!("| {} | {} | {each} |", row.group, row.name);
    }
}
