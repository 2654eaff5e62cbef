//! What every case needs: clients of one transport, and ways to expect something.

use std::env;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use iggy::prelude::*;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use tokio::time::{Instant, sleep};

/// Why a case failed.
pub type Outcome = Result<(), String>;

/// A true sentence, without the transport that it is judged on, and the function that looks.
pub struct Case {
    pub title: &'static str,
    pub run: for<'a> fn(&'a Judge) -> Pin<Box<dyn Future<Output = Outcome> + 'a>>,
}

/// A list of cases from `"title" => function` pairs.
#[macro_export]
macro_rules! case_list {
    ($($title:literal => $run:path),* $(,)?) => {
        vec![$($crate::judge::Case { title: $title, run: |judge| Box::pin($run(judge)) }),*]
    };
}

/// The ways to the server that this judge takes.
#[derive(Clone, Copy, PartialEq)]
pub enum Transport {
    Tcp,
    WebSocket,
    Http,
}

impl Transport {
    /// As it begins the title of a case and the names that its cases create.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::WebSocket => "ws",
            Self::Http => "http",
        }
    }
}

/// What is judged: every transport, all of them encrypted when there is an authority to trust.
pub const TRANSPORTS: [Transport; 3] = [Transport::Tcp, Transport::WebSocket, Transport::Http];

/// Makes clients that take one transport to the server under test.
pub struct Judge {
    pub transport: Transport,
    address: String,
    authority: Option<String>,
}

impl Judge {
    /// Reads from the command line and the environment where the listeners are and whom to trust.
    pub fn new(transport: Transport) -> Self {
        let variable = |name: &str| env::var(name).unwrap_or_default();
        let address = match transport {
            Transport::Tcp => env::args().next_back().unwrap_or_default(),
            Transport::WebSocket => variable("JUDGE_WEBSOCKET_ADDRESS"),
            Transport::Http => variable("INTEROP_HTTP_ADDRESS"),
        };
        let authority = env::var("JUDGE_CA_FILE").ok();
        Self { transport, address, authority }
    }

    /// A name that no other transport's cases use.
    pub fn named(&self, name: &str) -> String {
        format!("{}-{name}", self.transport.name())
    }

    /// A connection string with the root's credentials; undefined over TLS, which it cannot express in full.
    pub fn connection_string(&self) -> Option<String> {
        let scheme = self.transport.name();
        let plain = format!("iggy+{scheme}://iggy:iggy@{}", self.address);
        self.authority.is_none().then_some(plain)
    }

    /// A client that is connected and not logged in.
    pub async fn stranger(&self) -> Result<IggyClient, String> {
        let client = self.build(AutoLogin::Disabled).map_err(|error| format!("build: {error}"))?;
        client.connect().await.map_err(|error| format!("connect: {error}"))?;
        Ok(client)
    }

    /// A client that is connected and logged in as root, and logs in again by itself where it can.
    pub async fn client(&self) -> Result<IggyClient, String> {
        let root = Credentials::UsernamePassword("iggy".to_owned(), "iggy".to_owned().into());
        let client = self.build(AutoLogin::Enabled(root)).map_err(|error| format!("build: {error}"))?;
        client.connect().await.map_err(|error| format!("connect: {error}"))?;
        if self.transport == Transport::Http {
            client.login_user("iggy", "iggy").await.map_err(|error| format!("login: {error}"))?;
        }
        Ok(client)
    }

    /// Where a node of the roster listens for this transport.
    pub fn address_of(&self, node: &ClusterNode) -> String {
        let port = match self.transport {
            Transport::Tcp => node.endpoints.tcp,
            Transport::WebSocket => node.endpoints.websocket,
            Transport::Http => node.endpoints.http,
        };
        format!("{}:{port}", node.ip)
    }

    /// A client of that address over WebSocket, logged in as root, that tells soon when its node is gone.
    pub async fn impatient_client(&self, address: &str) -> Result<IggyClient, String> {
        let root = Credentials::UsernamePassword("iggy".to_owned(), "iggy".to_owned().into());
        let builder = IggyClient::builder().with_websocket().with_server_address(address.to_owned());
        let builder = builder.with_reconnection_max_retries(Some(1)).with_auto_sign_in(AutoLogin::Enabled(root));
        let client = builder.build().map_err(|error| format!("build: {error}"))?;
        client.connect().await.map_err(|error| format!("connect: {error}"))?;
        Ok(client)
    }

    fn build(&self, login: AutoLogin) -> Result<IggyClient, IggyError> {
        let address = self.address.clone();
        let trusted = self.authority.clone();
        match self.transport {
            Transport::Tcp => {
                let mut builder = IggyClient::builder().with_tcp().with_server_address(address);
                if let Some(file) = trusted {
                    builder = builder.with_tls_enabled(true).with_tls_domain("localhost".to_owned());
                    builder = builder.with_tls_ca_file(file);
                }
                builder.with_auto_sign_in(login).build()
            }
            Transport::WebSocket => {
                let mut builder = IggyClient::builder().with_websocket().with_server_address(address);
                if let Some(file) = trusted {
                    builder = builder.with_tls_enabled(true).with_tls_domain("localhost".to_owned());
                    builder = builder.with_tls_ca_file(file);
                }
                builder.with_auto_sign_in(login).build()
            }
            Transport::Http => {
                // Over HTTPS this client trusts what the system trusts: the authority's file is in SSL_CERT_FILE.
                let scheme = if trusted.is_some() { "https" } else { "http" };
                IggyClient::builder().with_http().with_api_url(format!("{scheme}://{address}")).build()
            }
        }
    }

    /// Has the server killed and started again on the same ports and data.
    pub async fn restart_server(&self) -> Outcome {
        order("restart", "running").await
    }

    /// Has the node killed that leads the cluster.
    pub async fn kill_leader(&self) -> Outcome {
        order("kill-leader", "killed").await
    }

    /// Has the nodes started again that were killed.
    pub async fn start_killed(&self) -> Outcome {
        order("start-killed", "running").await
    }
}

/// Has something done to the server and waits for the answer.
async fn order(word: &str, wanted: &str) -> Outcome {
    println!("{word}");
    let mut answer = String::new();
    let read = BufReader::new(stdin()).read_line(&mut answer).await;
    expect("lines read", read.is_ok(), true)?;
    expect("answer", answer.trim(), wanted)
}

/// Compares, and says both when they differ.
pub fn expect<T: Debug, U: Debug>(what: &str, seen: T, wanted: U) -> Outcome
where
    T: PartialEq<U>,
{
    if seen == wanted {
        return Ok(());
    }
    Err(format!("{what}: {seen:?}, expected {wanted:?}"))
}

/// What a call that must succeed returned.
pub async fn done<T>(what: &str, call: impl Future<Output = Result<T, IggyError>>) -> Result<T, String> {
    call.await.map_err(|error| format!("{what}: {error} (code {})", error.as_code()))
}

/// Expects a refusal with one of these codes.
pub async fn refused<T>(
    what: &str,
    call: impl Future<Output = Result<T, IggyError>>,
    codes: &[u32],
) -> Outcome {
    match call.await {
        Ok(_) => Err(format!("{what}: accepted, expected one of the errors {codes:?}")),
        Err(error) if codes.contains(&code_of(&error)) => Ok(()),
        Err(error) => Err(format!("{what}: {error} (code {}), expected one of {codes:?}", code_of(&error))),
    }
}

/// The server's code. The HTTP client has codes of its own for 401, 403 and 404; of any other status it keeps
/// the body, which begins with the server's code.
fn code_of(error: &IggyError) -> u32 {
    let IggyError::HttpResponseError(_, body) = error else {
        return error.as_code();
    };
    let number = body.strip_prefix("{\"id\":").and_then(|rest| rest.split(',').next());
    number.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| error.as_code())
}

/// Asks every 50 ms until `probe` says that it is so, at most 40 s.
pub async fn until<F>(what: &str, mut probe: impl FnMut() -> F) -> Outcome
where
    F: Future<Output = Result<bool, String>>,
{
    let end = Instant::now() + Duration::from_secs(40);
    while Instant::now() < end {
        if probe().await? {
            return Ok(());
        }
        sleep(Duration::from_millis(50)).await;
    }
    Err(format!("{what}: not within 40 s"))
}

/// An identifier by name.
pub fn id(name: &str) -> Identifier {
    Identifier::named(name).expect("names of cases are valid")
}
