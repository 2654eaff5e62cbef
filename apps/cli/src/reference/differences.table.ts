/** Where this command deliberately departs from the reference's, for the page that users read. */
export const DIFFERENCES: readonly (readonly [what: string, here: string])[] = [
  ["`--transport quic`", "accepted in contexts and refused with `FeatureUnavailable` when used; `tcp` and `ws` reach every command"],
  ["`--transport http`", "carries what the HTTP API has a route for; `me`, members and offsets of groups, `topic verify` and `partition repair` answer `FeatureUnavailable` and name the transports to use"],
  ["`--http-api-url`", "takes scheme, host and port; `https` encrypts, and `--http-tls-ca-file`, `--http-tls-domain` and `--http-tls-validate-certificate` say how the server is checked"],
  ["`IGGY_HOME`", "is used when `MILLRACE_HOME` is not set; without both the home is `~/.millrace`"],
  ["`IGGY_USERNAME` and `IGGY_PASSWORD`", "work, behind `MILLRACE_USERNAME` and `MILLRACE_PASSWORD`"],
  ["the keyring of the operating system", "logins and stored tokens are in `tokens.json` below the home, which only its owner can read"],
  ["the token `iggy-cli-session`", "`login` calls its token `millrace-cli-session`, so that both tools can be logged in at one server"],
  ["TLS accepts what it is told to", "certificates are checked by default; `--tcp-tls-validate-certificate false` turns it off, and `--tcp-tls-domain` is the host of the address by default"],
  ['"Executing ..." on stdout', "goes to stderr, on a terminal or with `-v`; stdout carries the answer alone"],
  ["exit code 1 for every error", "codes 1 to 6 tell them apart, see below"],
  ["counts of partitions and segments up to 100000", "1 to 1000, as the server takes them"],
  ["`topic update` without EXPIRY or `-m`", "leaves both as they are"],
  ["`--stream-id`, `--topic-id`, `--group-id`", "accepted; the server chooses ids, there as here"],
  ["`message flush`", "asks the server, which refuses it there as here; the answer says what to use"],
  ["`context show`, `context list`", "never show a password or a token"],
];
