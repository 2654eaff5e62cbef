//! Drives a Millrace server with the official Rust client: `millrace-interop HOST:PORT`.
//! See ../../judge-process.mjs for the lines it prints.

mod catalog_cases;
mod cluster_cases;
mod group_cases;
mod judge;
mod message_cases;
mod restart_cases;
mod session_cases;
mod stream_cases;
mod user_cases;

use judge::{Case, Judge, Transport};
use std::env;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;

/// A case takes milliseconds; a rebalance waits for the client's heartbeat, every 5 s.
const CASE_TIMEOUT: Duration = Duration::from_secs(60);

/// The cases of one way to the server. HTTP carries no group members and no client that has a connection.
fn cases(transport: Transport) -> Vec<Case> {
    if env::var("JUDGE_CLUSTER").is_ok() {
        return cases_in_a_cluster(transport);
    }
    let mut cases = Vec::new();
    cases.extend(session_cases::cases());
    cases.extend(catalog_cases::cases());
    cases.extend(message_cases::cases());
    cases.extend(user_cases::cases());
    cases.extend(stream_cases::cases());
    if transport != Transport::Http {
        cases.extend(session_cases::cases_of_connections());
        cases.extend(group_cases::cases());
    }
    cases.extend(restart_cases::cases());
    cases
}

/// The same against a cluster. Over HTTP nobody follows a leader: a node passes on what it is asked to write.
fn cases_in_a_cluster(transport: Transport) -> Vec<Case> {
    let mut cases = cluster_cases::cases();
    match transport {
        Transport::Tcp => cases.extend(cluster_cases::cases_with_the_roster()),
        Transport::WebSocket => cases.extend(cluster_cases::cases_with_one_address()),
        Transport::Http => {}
    }
    cases
}

async fn reason_against(case: &Case, judge: &Judge) -> Option<String> {
    let run = AssertUnwindSafe((case.run)(judge)).catch_unwind();
    match timeout(CASE_TIMEOUT, run).await {
        Err(_) => Some(format!("not done after {CASE_TIMEOUT:?}")),
        Ok(Err(_)) => Some("it panicked".to_owned()),
        Ok(Ok(Err(reason))) => Some(reason),
        Ok(Ok(Ok(()))) => None,
    }
}

#[tokio::main]
async fn main() {
    let mut count = 0;
    for transport in judge::TRANSPORTS {
        let judge = Judge::new(transport);
        for case in cases(transport) {
            let title = format!("over {}, {}", transport.name(), case.title);
            match reason_against(&case, &judge).await {
                None => println!("ok {title}"),
                Some(reason) => println!("FAILED {title}: {}", reason.replace('\n', "\\n")),
            }
            count += 1;
        }
    }
    println!("done {count}");
}
