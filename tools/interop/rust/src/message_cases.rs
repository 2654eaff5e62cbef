//! Sending, polling and the offsets of single consumers.

use std::collections::BTreeMap;
use std::str::FromStr;

use bytes::Bytes;
use iggy::prelude::*;

use crate::case_list;
use crate::judge::{Case, Judge, Outcome, Transport, done, expect, id, refused};

const NOT_FOUND: &[u32] = &[20, 1009, 2010, 3007];

pub fn cases() -> Vec<Case> {
    case_list![
        "payloads, ids and headers come back as sent" => round_trip,
        "polls begin at an offset, a time, the first, the last and the next message" => strategies,
        "balanced sends go round and keys stay in one partition" => partitionings,
        "offsets are stored, read and deleted" => offsets,
        "a large message and a batch of 5,000 go through whole" => large,
        "sending to what is missing is refused" => refusals,
    ]
}

/// Makes a stream with one topic `one`; the name of the stream.
pub async fn stream_with_topic(
    client: &IggyClient,
    judge: &Judge,
    name: &str,
    partitions: u32,
) -> Result<String, String> {
    let stream = judge.named(name);
    done("stream", client.create_stream(&stream)).await?;
    let options = TopicCreateOptions { partitions_count: Some(partitions), ..Default::default() };
    done("topic", client.create_topic(&id(&stream), "one", &options)).await?;
    Ok(stream)
}

/// Messages whose payloads are the numbers `from..to`.
pub fn numbered(from: u32, to: u32) -> Vec<IggyMessage> {
    (from..to).map(|number| IggyMessage::from_str(&number.to_string()).expect("a payload")).collect()
}

/// Sends to one partition of the topic `one`.
pub async fn send(
    client: &IggyClient,
    stream: &str,
    partition: u32,
    mut messages: Vec<IggyMessage>,
) -> Result<SendMessagesResponse, String> {
    let to = Partitioning::partition_id(partition);
    done("send", client.send_messages(&id(stream), &id("one"), &to, &mut messages)).await
}

/// Polls as consumer `reader`.
pub async fn poll(
    client: &IggyClient,
    stream: &str,
    partition: u32,
    from: PollingStrategy,
    count: u32,
) -> Result<Vec<IggyMessage>, String> {
    let (at, topic, reader) = (id(stream), id("one"), Consumer::new(id("reader")));
    let call = client.poll_messages(&at, &topic, Some(partition), &reader, &from, count, false);
    Ok(done("poll", call).await?.messages)
}

/// The payloads as text.
pub fn texts(messages: &[IggyMessage]) -> Vec<String> {
    messages.iter().map(|one| String::from_utf8_lossy(&one.payload).into_owned()).collect()
}

fn headers() -> Result<BTreeMap<HeaderKey, HeaderValue>, IggyError> {
    Ok(BTreeMap::from([
        (HeaderKey::try_from("text")?, HeaderValue::try_from("a value")?),
        (HeaderKey::try_from("yes")?, HeaderValue::from(true)),
        (HeaderKey::try_from("signed")?, HeaderValue::from(i128::MIN)),
        (HeaderKey::try_from("unsigned")?, HeaderValue::from(u128::MAX)),
        (HeaderKey::try_from("half")?, HeaderValue::from(0.5_f64)),
        (HeaderKey::from(7_u32), HeaderValue::try_from([0_u8, 255].as_slice())?),
    ]))
}

async fn round_trip(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "round-trip", 1).await?;
    let headers = headers().map_err(|error| error.to_string())?;
    // The HTTP client cannot write an id of more than 64 bits: it panics.
    let number = if judge.transport == Transport::Http { u64::MAX.into() } else { u128::MAX - 1 };
    let sent = IggyMessage::builder()
        .id(number)
        .payload(Bytes::from_static(b"with headers"))
        .user_headers(headers.clone())
        .build()
        .map_err(|error| error.to_string())?;
    let origin = sent.header.origin_timestamp;
    send(&client, &stream, 0, vec![sent]).await?;
    let seen = poll(&client, &stream, 0, PollingStrategy::first(), 1).await?;
    expect("messages", seen.len(), 1)?;
    expect("payload", seen[0].payload.as_ref(), b"with headers".as_slice())?;
    expect("id", seen[0].header.id, number)?;
    // The HTTP client sends no origin timestamp.
    let kept = seen[0].header.origin_timestamp == origin || judge.transport == Transport::Http;
    expect("origin timestamp kept", kept, true)?;
    expect("headers", seen[0].user_headers_map().map_err(|error| error.to_string())?, Some(headers))?;
    done("delete", client.delete_stream(&id(&stream))).await
}

async fn strategies(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "strategies", 1).await?;
    send(&client, &stream, 0, numbered(0, 5)).await?;
    let late = IggyTimestamp::now();
    send(&client, &stream, 0, numbered(5, 10)).await?;
    let from = async |strategy, count| Ok(texts(&poll(&client, &stream, 0, strategy, count).await?));
    let range = |from: u32, to: u32| (from..to).map(|number| number.to_string()).collect::<Vec<_>>();
    let answers: [(&str, PollingStrategy, Vec<String>); 5] = [
        ("first", PollingStrategy::first(), range(0, 3)),
        ("last", PollingStrategy::last(), range(7, 10)),
        ("offset", PollingStrategy::offset(4), range(4, 7)),
        ("time", PollingStrategy::timestamp(late), range(5, 8)),
        ("behind the end", PollingStrategy::offset(10), vec![]),
    ];
    for (what, strategy, wanted) in answers {
        let seen: Result<Vec<String>, String> = from(strategy, 3).await;
        expect(what, seen?, wanted)?;
    }
    let (at, topic, reader) = (id(&stream), id("one"), Consumer::new(id("committing")));
    for wanted in [range(0, 6), range(6, 10), vec![]] {
        let next = PollingStrategy::next();
        let call = client.poll_messages(&at, &topic, Some(0), &reader, &next, 6, true);
        expect("next", texts(&done("poll", call).await?.messages), wanted)?;
    }
    done("delete", client.delete_stream(&id(&stream))).await
}

async fn counts(client: &IggyClient, stream: &str) -> Result<Vec<u64>, String> {
    let topic = done("topic", client.get_topic(&id(stream), &id("one"))).await?.ok_or("no topic")?;
    Ok(topic.partitions.iter().map(|one| one.messages_count).collect())
}

async fn partitionings(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "spread", 3).await?;
    let balanced = Partitioning::balanced();
    for number in 0..6 {
        let mut one = numbered(number, number + 1);
        done("send", client.send_messages(&id(&stream), &id("one"), &balanced, &mut one)).await?;
    }
    expect("balanced", counts(&client, &stream).await?, vec![2, 2, 2])?;
    done("purge", client.purge_topic(&id(&stream), &id("one"))).await?;
    let key = Partitioning::messages_key_str("a-key").map_err(|error| error.to_string())?;
    for number in 0..6 {
        let mut one = numbered(number, number + 1);
        done("send", client.send_messages(&id(&stream), &id("one"), &key, &mut one)).await?;
    }
    let mut used = counts(&client, &stream).await?;
    used.sort_unstable();
    expect("by key", used, vec![0, 0, 6])?;
    done("delete", client.delete_stream(&id(&stream))).await
}

async fn offsets(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "offsets", 2).await?;
    send(&client, &stream, 1, numbered(0, 10)).await?;
    let reader = Consumer::new(id("reader"));
    let (in_stream, in_topic) = (id(&stream), id("one"));
    let stored = async || {
        let call = client.get_consumer_offset(&reader, &in_stream, &in_topic, Some(1));
        Ok::<_, String>(done("get", call).await?.map(|one| (one.stored_offset, one.current_offset)))
    };
    expect("none", stored().await?, None)?;
    done("store", client.store_consumer_offset(&reader, &in_stream, &in_topic, Some(1), 4)).await?;
    expect("stored", stored().await?, Some((4, 9)))?;
    let next = poll(&client, &stream, 1, PollingStrategy::next(), 2).await?;
    expect("next", texts(&next), vec!["5".to_owned(), "6".to_owned()])?;
    done("delete", client.delete_consumer_offset(&reader, &in_stream, &in_topic, Some(1))).await?;
    expect("deleted", stored().await?, None)?;
    done("delete", client.delete_stream(&in_stream)).await
}

async fn large(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "large", 1).await?;
    // The HTTP API takes bodies up to 2 MB, with payloads as Base64.
    let length = if judge.transport == Transport::Http { 1 << 20 } else { 8 << 20 };
    let payload = Bytes::from(vec![0x5A; length]);
    let message = IggyMessage::builder().payload(payload.clone()).build();
    send(&client, &stream, 0, vec![message.map_err(|error| error.to_string())?]).await?;
    send(&client, &stream, 0, numbered(1, 5001)).await?;
    let first = poll(&client, &stream, 0, PollingStrategy::first(), 1).await?;
    expect("large", first[0].payload == payload, true)?;
    let rest = poll(&client, &stream, 0, PollingStrategy::offset(1), 5000).await?;
    expect("batch", texts(&rest), (1..5001).map(|number| number.to_string()).collect::<Vec<_>>())?;
    done("delete", client.delete_stream(&id(&stream))).await
}

async fn refusals(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "refusing", 1).await?;
    let at = id(&stream);
    for (topic, partition) in [("one", 9), ("absent", 0)] {
        let (topic, to, mut messages) = (id(topic), Partitioning::partition_id(partition), numbered(0, 1));
        let call = client.send_messages(&at, &topic, &to, &mut messages);
        refused("send", call, NOT_FOUND).await?;
    }
    send(&client, &stream, 0, numbered(0, 1)).await?;
    done("delete", client.delete_stream(&at)).await
}
