//! `steadfast-lab`: see what a policy does to a struggling dependency before production does.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

mod cli;

use cli::Cli;

/// The exit code for input that cannot be used: nothing was simulated, nothing written.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let output = match Cli::try_parse() {
        Ok(cli) => cli.run(),
        // Help and version are asked for, and are no error.
        Err(help) if !help.use_stderr() => Ok(help.render().to_string()),
        Err(error) => Err(one_line(&error)),
    };
    let output = match output {
        Ok(output) => output,
        Err(reason) => {
            // Where stderr is closed there is nobody to tell.
            let _ = writeln!(io::stderr(), "steadfast-lab: {reason}");
            return ExitCode::from(BAD_INPUT);
        }
    };
    match io::stdout().write_all(output.as_bytes()) {
        // A reader such as `head` may have had enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}

/// What is wrong, without the usage below it.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.lines().take_while(|line| !line.is_empty());
    let lines: Vec<_> = lines.map(str::trim).collect();
    match lines.is_empty() {
        true => "no command: see --help".into(),
        false => lines.join(" "),
    }
}
