//! What must hold, as a function of the history and of the books.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use crate::books::{Charge, Snapshot, Stored};
use crate::history::{Event, Phase, Reply};
use crate::order::Receipt;

#[cfg(test)]
mod tests;

/// What was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A key with more than one row.
    DuplicateEffect,
    /// An acknowledged effect that is not in the books.
    LostEffect,
    /// A row of an execution that was refused, failed or panicked.
    RefusedEffect,
    /// An effect without a stored answer, or a stored success without its effect.
    EffectWithoutRecord,
    /// Two clients of one key were told different things.
    AnswersDiffer,
    /// A client was told something else than what is stored.
    StoredDiffers,
    /// A key that is not answered after all has calmed down.
    NeverEnds,
    /// Another payload was answered as if it were the key's own.
    Disclosed,
    /// An answer that no client should get.
    Unexpected,
    /// Money that is in the balance and not in the rows, or the other way round.
    Unbalanced,
}

/// Everything that is wrong, and what was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) violations: Vec<(Kind, String)>,
    pub(crate) counts: Counts,
}

/// What a run consisted of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) keys: usize,
    pub(crate) sent: usize,
    pub(crate) lost: usize,
    pub(crate) busy: usize,
    pub(crate) failed: usize,
    pub(crate) ran: usize,
    pub(crate) replayed: usize,
    pub(crate) refused_reuse: usize,
    /// Keys whose clients all gave up before one had an answer.
    pub(crate) unknown: usize,
    /// Those of them that the calm showed to have been executed before.
    pub(crate) unknown_executed: usize,
}

impl Findings {
    pub(crate) fn of(&self, kind: Kind) -> usize {
        self.violations.iter().filter(|(of, _)| *of == kind).count()
    }

    fn add(&mut self, kind: Kind, what: impl Into<String>) {
        self.violations.push((kind, what.into()));
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds = BTreeMap::<Kind, (usize, &str)>::new();
        for (kind, what) in &self.violations {
            kinds.entry(*kind).or_insert((0, what)).0 += 1;
        }
        for (kind, (count, first)) in kinds {
            writeln!(f, "  {kind:?}: {count}, the first: {first}")?;
        }
        Ok(())
    }
}

/// What the log says of one key.
#[derive(Default)]
struct Told<'a> {
    storm: Vec<&'a Reply>,
    quiet: Vec<&'a Reply>,
}

/// Checks a run that has calmed down.
pub(crate) fn check(events: &[Event], books: &Snapshot) -> Findings {
    let mut findings = Findings::default();
    let told = gather(events, &mut findings);
    let mut rows = HashMap::<&str, Vec<&Charge>>::new();
    for charge in &books.charges {
        rows.entry(&charge.key).or_default().push(charge);
    }
    let stored: HashMap<&str, &Stored> = books.records.iter().map(|r| (&*r.key, r)).collect();
    for (key, told) in &told {
        let rows = rows.get(key).map_or(&[][..], Vec::as_slice);
        of_key(key, told, rows, stored.get(key).copied(), &mut findings);
    }
    for charge in &books.charges {
        if charge.fate != "kept" {
            let what = format!("{} of {} is in the books", charge.fate, charge.key);
            findings.add(Kind::RefusedEffect, what);
        }
        if !told.contains_key(&*charge.key) {
            findings.add(Kind::Unexpected, format!("nobody sent {}", charge.key));
        }
    }
    for (account, balance) in &books.balances {
        let of_account = books.charges.iter().filter(|row| row.account == *account);
        let sum: i64 = of_account.map(|charge| charge.cents).sum();
        if *balance != -sum {
            let what = format!("account {account} has {balance}, its rows say {}", -sum);
            findings.add(Kind::Unbalanced, what);
        }
    }
    findings
}

fn gather<'a>(events: &'a [Event], findings: &mut Findings) -> BTreeMap<&'a str, Told<'a>> {
    let mut told = BTreeMap::<&str, Told<'_>>::new();
    for event in events {
        let counts = &mut findings.counts;
        match event {
            Event::Intent { key, .. } => {
                counts.sent += 1;
                told.entry(key).or_default();
            }
            Event::Lost { .. } => counts.lost += 1,
            Event::Answer { key, phase, reply } => {
                match (reply.status, reply.replayed) {
                    (409, _) => counts.busy += 1,
                    (500 | 503, _) => counts.failed += 1,
                    (422, _) => counts.refused_reuse += 1,
                    (_, false) => counts.ran += 1,
                    (_, true) => counts.replayed += 1,
                }
                if *phase == Phase::Altered {
                    if reply.is_final() && reply.status != 422 {
                        let what = format!("{key}: another payload was answered {reply:?}");
                        findings.add(Kind::Disclosed, what);
                    }
                    continue;
                }
                match reply.status {
                    201 | 402 => {
                        let told = told.entry(key).or_default();
                        match phase {
                            Phase::Quiet => told.quiet.push(reply),
                            _ => told.storm.push(reply),
                        }
                    }
                    409 | 500 | 503 => {}
                    _ => findings.add(Kind::Unexpected, format!("{key} was told {reply:?}")),
                }
            }
        }
    }
    findings.counts.keys = told.len();
    told
}

fn of_key(
    key: &str,
    told: &Told<'_>,
    rows: &[&Charge],
    stored: Option<&Stored>,
    to: &mut Findings,
) {
    if rows.len() > 1 {
        let what = format!("{key} has {} rows", rows.len());
        to.add(Kind::DuplicateEffect, what);
    }
    if told.storm.is_empty() {
        to.counts.unknown += 1;
        to.counts.unknown_executed += usize::from(told.quiet.iter().any(|reply| reply.replayed));
    }
    if told.quiet.is_empty() {
        to.add(Kind::NeverEnds, key);
    }
    let answers = || told.storm.iter().chain(&told.quiet);
    let mut heard: Vec<&Reply> = Vec::new();
    for reply in answers() {
        let same = |other: &&Reply| {
            (reply.status, &reply.location, &reply.body)
                == (other.status, &other.location, &other.body)
        };
        if !heard.iter().any(same) {
            heard.push(reply);
        }
    }
    if heard.len() > 1 {
        to.add(
            Kind::AnswersDiffer,
            format!("{key}: {:?} and {:?}", heard[0], heard[1]),
        );
    }
    for reply in heard {
        let kept = stored.is_some_and(|stored| {
            (stored.status, &stored.location, &stored.body)
                == (reply.status, &reply.location, &reply.body)
        });
        if !kept {
            to.add(
                Kind::StoredDiffers,
                format!("{key}: told {reply:?}, stored {stored:?}"),
            );
        }
        let receipt = serde_json::from_str::<Receipt>(&reply.body);
        let there = match (reply.status, receipt) {
            (201, Ok(told)) => rows
                .iter()
                .any(|row| row.run == told.run && Some(row.receipt) == told.receipt),
            (402, Ok(told)) => told.receipt.is_none(),
            _ => false,
        };
        if !there {
            to.add(
                Kind::LostEffect,
                format!("{key}: told {reply:?}, in the books {rows:?}"),
            );
        }
    }
    if rows.is_empty() == stored.is_some_and(|stored| stored.status == 201) {
        let what = format!("{key}: {} rows, stored {stored:?}", rows.len());
        to.add(Kind::EffectWithoutRecord, what);
    }
}
