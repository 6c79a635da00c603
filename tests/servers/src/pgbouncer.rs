use std::fs;
use std::process::Command;

use crate::account::Account;
use crate::binary::directory_of;
use crate::keeper::{Keeper, free_port};
use crate::postgres::Postgres;

/// A PgBouncer in transaction mode before a [`Postgres`], with two server connections for each
/// database: clients share them from one transaction to the next.
#[derive(Debug)]
pub struct PgBouncer {
    _keeper: Keeper,
    port: u16,
}

impl PgBouncer {
    /// Starts one; None where it is not installed.
    ///
    /// # Panics
    ///
    /// It is installed and does not start, or it is not installed and this is CI.
    pub fn before(server: &Postgres) -> Option<Self> {
        let bouncer = directory_of(&["pgbouncer"])?.join("pgbouncer");
        let probe = directory_of(&["pg_isready"])?.join("pg_isready");
        let account = Account::find();
        let directory = Keeper::directory(account);
        let (port, upstream) = (free_port(), server.port());
        let users = directory.join("users");
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={upstream}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 2\n\
             max_client_conn = 200\nignore_startup_parameters = extra_float_digits\n",
            users.display()
        );
        let config = directory.join("pgbouncer.ini");
        fs::write(&users, format!("\"{}\" \"\"\n", Postgres::USER)).expect("it is ours");
        fs::write(&config, settings).expect("it is ours");
        let mut command = Command::new(bouncer);
        command.arg(&config);
        let probe = format!("'{}' -h 127.0.0.1 -p {port}", probe.display());
        Some(Self {
            _keeper: Keeper::start(account, &directory, &probe, "KILL", &mut command),
            port,
        })
    }

    /// The URL of the server's database `url` through it.
    pub fn through(&self, url: &str, server: &Postgres) -> String {
        let (direct, pooled) = (server.port(), self.port);
        url.replace(&format!(":{direct}/"), &format!(":{pooled}/"))
    }
}
