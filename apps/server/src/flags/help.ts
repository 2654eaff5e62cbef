/** What `--help` prints. */
export const HELP = `Usage: millrace-server [options]

Starts a Millrace server. It listens on loopback only unless tcp.address says otherwise.

Options:
  --data PATH, --path PATH          folder that holds the data (default: ./local_data)
  -c, --config FILE                 TOML file with settings (default: what MILLRACE_CONFIG_PATH names)
  --replica-id N                    which node of the roster in cluster.nodes this is
  -f, --fresh                       delete the data first
  --with-default-root-credentials   on the first start, make the root user iggy with the password iggy
  -V, --version                     print the version
  -h, --help                        print this text

The first start makes the root user: from MILLRACE_ROOT_USERNAME and MILLRACE_ROOT_PASSWORD when both are set,
else with the default credentials when asked for, else as iggy with a random password that is printed once.
Later starts leave the root user as it is; millrace -u NAME user password NAME gives it another password.

Every setting of the file can come from the environment: MILLRACE_ and its path in capitals joined by _, for
example MILLRACE_TCP_ADDRESS=127.0.0.1:9000. IGGY_ names are read when there is no MILLRACE_ one.
`;
