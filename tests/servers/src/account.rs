use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Who runs the servers: nobody else, unless this process is root, which PostgreSQL refuses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Account {
    Ours,
    Other { uid: u32, gid: u32 },
}

impl Account {
    pub(crate) fn find() -> Self {
        let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        if !is_root {
            return Self::Ours;
        }
        let accounts = fs::read_to_string("/etc/passwd").expect("root can read /etc/passwd");
        let named = |name: &str| accounts.lines().find_map(|line| parse(line, name));
        let (uid, gid) = named("postgres")
            .or_else(|| named("nobody"))
            .expect("root needs an account `postgres` or `nobody` to run servers as");
        Self::Other { uid, gid }
    }

    /// Runs the command as this account.
    pub(crate) fn run(self, command: &mut Command) -> &mut Command {
        match self {
            Self::Ours => command,
            Self::Other { uid, gid } => command.uid(uid).gid(gid),
        }
    }

    /// Gives a fresh directory to this account.
    pub(crate) fn own(self, directory: &Path) {
        if let Self::Other { uid, gid } = self {
            chown(directory, Some(uid), Some(gid)).expect("root gives its directory away");
        }
    }
}

/// `name:password:uid:gid:...`
fn parse(line: &str, name: &str) -> Option<(u32, u32)> {
    let mut fields = line.split(':');
    if fields.next()? != name {
        return None;
    }
    let mut ids = fields.skip(1).map(str::parse);
    Some((ids.next()?.ok()?, ids.next()?.ok()?))
}
