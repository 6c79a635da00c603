use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::account::Account;

/// The parent of a server: a shell that starts and stops it as told, and that stops it and removes
/// its directory when this process is gone, however it went.
///
/// `$1` is the directory, `$2` a shell command that succeeds once the server serves, `$3` the signal
/// that ends the server at once, the rest is the server's command line.
const KEEPER: &str = r#"
directory=$1 probe=$2 last=$3
shift 3
pid=
alive() { [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; }
end() { if [ -n "$pid" ]; then kill -s "$1" "$pid" 2>/dev/null; wait "$pid"; pid=; fi; }
while read -r order signal; do
    case $order in
        start)
            "$@" </dev/null >>"$directory/log" 2>&1 &
            pid=$! answer=failed tries=0
            while alive && [ $tries -lt 1200 ]; do
                if sh -c "$probe" >/dev/null 2>&1; then answer="ready $pid"; break; fi
                sleep 0.05
                tries=$((tries + 1))
            done
            echo "$answer" ;;
        stop) end "$signal"; echo stopped ;;
        signal) kill -s "$signal" "$pid"; echo sent ;;
    esac
done
kill -s CONT "$pid" 2>/dev/null
end "$last"
rm -rf "$directory"
"#;

#[derive(Debug)]
pub(crate) struct Keeper {
    shell: Child,
    directory: PathBuf,
    talk: Mutex<Talk>,
}

#[derive(Debug)]
struct Talk {
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    pid: u32,
}

impl Keeper {
    /// A fresh directory that the account owns.
    pub(crate) fn directory(account: Account) -> PathBuf {
        let directory = tempfile::Builder::new().prefix("steadfast-").tempdir();
        let directory = directory.expect("a temporary directory").keep();
        account.own(&directory);
        directory
    }

    /// Starts the server, and owns `directory` from here on.
    pub(crate) fn start(
        account: Account,
        directory: &Path,
        probe: &str,
        last_signal: &str,
        server: &mut Command,
    ) -> Self {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", KEEPER, "keeper"])
            .arg(directory)
            .args([probe, last_signal])
            .arg(server.get_program())
            .args(server.get_args())
            .current_dir(directory)
            // A Ctrl-C at the terminal is for the tests.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut shell = account.run(&mut shell).spawn().expect("sh runs");
        let orders = shell.stdin.take();
        let answers = BufReader::new(shell.stdout.take().expect("it is piped"));
        let keeper = Self {
            shell,
            directory: directory.to_owned(),
            talk: Mutex::new(Talk {
                orders,
                answers,
                pid: 0,
            }),
        };
        keeper.start_again();
        keeper
    }

    pub(crate) fn start_again(&self) {
        let answer = self.order("start");
        let Some(pid) = answer.strip_prefix("ready ") else {
            let log = fs::read_to_string(self.directory.join("log")).unwrap_or_default();
            panic!("the server did not start:\n{log}");
        };
        self.talk().pid = pid.parse().expect("a shell knows its child's pid");
    }

    pub(crate) fn stop(&self, signal: &str) {
        assert_eq!(self.order(&format!("stop {signal}")), "stopped");
    }

    pub(crate) fn signal(&self, signal: &str) {
        assert_eq!(self.order(&format!("signal {signal}")), "sent");
    }

    pub(crate) fn pid(&self) -> u32 {
        self.talk().pid
    }

    fn order(&self, order: &str) -> String {
        let mut talk = self.talk();
        let orders = talk.orders.as_mut().expect("open until drop");
        writeln!(orders, "{order}").expect("the keeper lives");
        let mut answer = String::new();
        talk.answers
            .read_line(&mut answer)
            .expect("the keeper lives");
        answer.trim_end().to_owned()
    }

    fn talk(&self) -> std::sync::MutexGuard<'_, Talk> {
        // A test that failed at an order leaves the talk between two orders.
        self.talk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.talk().orders = None;
        let _ = self.shell.wait();
    }
}

/// A port of 127.0.0.1 that nobody listens on.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has free ports");
    listener.local_addr().expect("it is bound").port()
}
