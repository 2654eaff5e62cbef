//! What is there after the server was killed and started again.

use iggy::prelude::*;

use crate::case_list;
use crate::judge::{Case, Judge, Outcome, Transport, done, expect, id, until};
use crate::message_cases::{numbered, poll, send, stream_with_topic, texts};

pub fn cases() -> Vec<Case> {
    case_list!["everything is there after a kill and a restart, and the client goes on" => restart]
}

async fn restart(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "durable", 1).await?;
    send(&client, &stream, 0, numbered(0, 1000)).await?;
    let reader = Consumer::new(id("reader"));
    let (in_stream, in_topic) = (id(&stream), id("one"));
    done("store", client.store_consumer_offset(&reader, &in_stream, &in_topic, Some(0), 499)).await?;
    judge.restart_server().await?;
    if judge.transport == Transport::Http {
        done("login", client.login_user("iggy", "iggy")).await?;
    }
    until("the client is back", || async { Ok(client.get_streams().await.is_ok()) }).await?;
    let seen = texts(&poll(&client, &stream, 0, PollingStrategy::first(), 1000).await?);
    expect("messages", seen, (0..1000).map(|number| number.to_string()).collect::<Vec<_>>())?;
    let next = texts(&poll(&client, &stream, 0, PollingStrategy::next(), 1).await?);
    expect("next", next, vec!["500".to_owned()])?;
    send(&client, &stream, 0, numbered(1000, 1001)).await?;
    let last = texts(&poll(&client, &stream, 0, PollingStrategy::last(), 1).await?);
    expect("last", last, vec!["1000".to_owned()])?;
    done("delete", client.delete_stream(&in_stream)).await
}
