//! Logging in and out, and the commands that describe the server.

use iggy::prelude::*;

use crate::case_list;
use crate::judge::{Case, Judge, Outcome, done, expect, refused};

const UNAUTHENTICATED: &[u32] = &[40];
const INVALID_CREDENTIALS: &[u32] = &[42];
const INVALID_COMMAND: &[u32] = &[3];
const FEATURE_UNAVAILABLE: &[u32] = &[5];
const COMMAND_THAT_IS_NOT: u32 = 60_000;

pub fn cases() -> Vec<Case> {
    case_list![
        "ping works before any login and a read is refused" => before_login,
        "a wrong password and an unknown user are refused" => wrong_password,
        "stats describe the process and say version 0.9.0" => stats,
        "topics have options, streams and users none" => options,
        "the roster names one healthy leader" => roster,
        "a snapshot is a ZIP file, and compressions that are not built are refused" => snapshot,
    ]
}

/// What only a client with a connection of its own can ask.
pub fn cases_of_connections() -> Vec<Case> {
    case_list![
        "the root user logs in, out and in again on one client" => login,
        "a connection string logs in" => connection_string,
        "get-me answers this client and the list of clients holds it" => me,
        "an unknown command is refused and the session goes on" => unknown_command,
    ]
}

async fn before_login(judge: &Judge) -> Outcome {
    let client = judge.stranger().await?;
    done("ping", client.ping()).await?;
    refused("streams", client.get_streams(), UNAUTHENTICATED).await?;
    done("ping", client.ping()).await
}

async fn wrong_password(judge: &Judge) -> Outcome {
    for (name, password) in [("iggy", "wrong-password"), ("nobody", "iggy-password")] {
        let client = judge.stranger().await?;
        refused(name, client.login_user(name, password), INVALID_CREDENTIALS).await?;
    }
    Ok(())
}

async fn login(judge: &Judge) -> Outcome {
    let client = judge.stranger().await?;
    for _ in 0..2 {
        let identity = done("login", client.login_user("iggy", "iggy")).await?;
        expect("user", identity.user_id, 0)?;
        done("streams", client.get_streams()).await?;
        done("logout", client.logout_user()).await?;
    }
    refused("after logout", client.get_streams(), UNAUTHENTICATED).await
}

async fn connection_string(judge: &Judge) -> Outcome {
    let Some(text) = judge.connection_string() else {
        return Ok(());
    };
    let client = IggyClient::from_connection_string(&text).map_err(|error| error.to_string())?;
    done("connect", client.connect()).await?;
    done("streams", client.get_streams()).await?;
    Ok(())
}

async fn stats(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stats = done("stats", client.get_stats()).await?;
    expect("version", stats.iggy_server_version.as_str(), "0.9.0")?;
    expect("version number", stats.iggy_server_semver, Some(9000))?;
    expect("process", stats.process_id > 0 && stats.threads_count > 0, true)?;
    expect("memory", stats.memory_usage.as_bytes_u64() > 0, true)?;
    expect("names", stats.hostname.is_empty() || stats.os_name.is_empty(), false)
}

async fn me(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let me = done("me", client.get_me()).await?;
    expect("user", me.user_id, Some(0))?;
    let clients = done("clients", client.get_clients()).await?;
    expect("in the list", clients.iter().any(|one| one.client_id == me.client_id), true)?;
    let found = done("client", client.get_client(me.client_id)).await?;
    expect("address", found.map(|one| one.address), Some(me.address))?;
    let absent = done("absent client", client.get_client(u32::MAX)).await?;
    expect("absent", absent.is_none(), true)
}

async fn unknown_command(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let call = client.send_binary_request(COMMAND_THAT_IS_NOT, bytes::Bytes::new());
    refused("unknown", call, INVALID_COMMAND).await?;
    done("streams", client.get_streams()).await?;
    Ok(())
}

async fn options(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let of_topics = done("topic", client.describe_options(OptionsScope::Topic)).await?;
    expect("topic", of_topics.len(), 9)?;
    expect("stream", done("stream", client.describe_options(OptionsScope::Stream)).await?.len(), 0)?;
    expect("user", done("user", client.describe_options(OptionsScope::User)).await?.len(), 0)
}

async fn roster(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let roster = done("roster", client.get_cluster_metadata()).await?;
    expect("nodes", roster.nodes.len(), 1)?;
    expect("role", roster.nodes[0].role, ClusterNodeRole::Leader)?;
    expect("status", roster.nodes[0].status, ClusterNodeStatus::Healthy)
}

async fn snapshot(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let parts = vec![SystemSnapshotType::ResourceUsage, SystemSnapshotType::ServerConfig];
    for asked in [parts, vec![SystemSnapshotType::All]] {
        let zip = done("snapshot", client.snapshot(SnapshotCompression::Deflated, asked)).await?;
        expect("beginning", zip.0.starts_with(b"PK\x03\x04"), true)?;
    }
    let call = client.snapshot(SnapshotCompression::Bzip2, vec![SystemSnapshotType::All]);
    refused("bzip2", call, FEATURE_UNAVAILABLE).await
}
