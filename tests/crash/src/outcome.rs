//! What a run showed, for people and for the exit code.

use std::fmt;
use std::time::Duration;

use crate::check::{Counts, Findings};
use crate::design::Design;
use crate::faults::Struck;
use crate::plan::Plan;

/// What a run showed.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) findings: Findings,
    pub(crate) struck: Struck,
    pub(crate) cuts: u64,
    pub(crate) took: Duration,
    pub(crate) plan: Plan,
}

impl Outcome {
    /// Whether the run says what it should: nothing wrong with the sound design, and the mistake
    /// of a flawed one.
    pub(crate) fn is_as_expected(&self) -> bool {
        match self.plan.design.gives_itself_away_by() {
            None => self.findings.violations.is_empty(),
            Some(kind) => self.findings.of(kind) > 0,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, struck, .. } = self;
        let Counts {
            keys,
            sent,
            lost,
            busy,
            failed,
            ran,
            replayed,
            refused_reuse,
            unknown,
            unknown_executed,
        } = self.findings.counts;
        let took = self.took.as_secs_f64();
        writeln!(
            f,
            "{:?}, {}, seed {}: {took:.1} s",
            plan.store, plan.design, plan.seed
        )?;
        writeln!(
            f,
            "  {} SIGKILL, {} SIGSTOP, {} rolling, {} backends ended, {} database restarts, {} cuts",
            struck.kills, struck.stops, struck.rolling, struck.backends, struck.restarts, self.cuts
        )?;
        writeln!(
            f,
            "  {keys} keys, {sent} sent, {lost} lost, {busy} busy, {failed} failed, {ran} ran, \
             {replayed} replayed, {refused_reuse} reuse refused"
        )?;
        writeln!(
            f,
            "  {unknown} keys without an answer in the storm, {unknown_executed} of them executed"
        )?;
        self.findings.fmt(f)?;
        let verdict = match (plan.design, self.is_as_expected()) {
            (Design::Sound, true) => "sound",
            (Design::Sound, false) => "BROKEN",
            (_, true) => "caught",
            (_, false) => "NOT CAUGHT",
        };
        write!(f, "  {verdict}")
    }
}
