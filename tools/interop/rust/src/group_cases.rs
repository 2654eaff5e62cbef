//! Consumer groups: administration, two members, and what moves between them.

use std::collections::BTreeSet;

use futures_util::{FutureExt, StreamExt};
use iggy::prelude::*;

use crate::case_list;
use crate::judge::{Case, Judge, Outcome, done, expect, id, refused, until};
use crate::message_cases::{numbered, send, stream_with_topic};

const GROUP_TAKEN: &[u32] = &[5004];
const NO_SUCH_GROUP: &[u32] = &[5000, 5005];
const NOT_A_MEMBER: &[u32] = &[5006];
const PARTITIONS: u32 = 4;

pub fn cases() -> Vec<Case> {
    case_list![
        "a group is created, joined, left and deleted" => administration,
        "a group poll gives each partition in turn and commits" => polls,
        "a second member takes its share and what it leaves comes back" => rebalance,
    ]
}

async fn administration(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "groups", 3).await?;
    let (at, topic, group) = (id(&stream), id("one"), id("readers"));
    let made = done("create", client.create_consumer_group(&at, &topic, "readers")).await?;
    expect("partitions", made.partitions_count, 3)?;
    refused("twice", client.create_consumer_group(&at, &topic, "readers"), GROUP_TAKEN).await?;
    done("join", client.join_consumer_group(&at, &topic, &group)).await?;
    let shown = done("get", client.get_consumer_group(&at, &topic, &group)).await?.ok_or("no group")?;
    expect("members", shown.members_count, 1)?;
    expect("assigned", shown.members[0].partitions.clone(), vec![0, 1, 2])?;
    expect("in get-me", done("me", client.get_me()).await?.consumer_groups_count, 1)?;
    done("leave", client.leave_consumer_group(&at, &topic, &group)).await?;
    refused("left twice", client.leave_consumer_group(&at, &topic, &group), NOT_A_MEMBER).await?;
    expect("listed", done("list", client.get_consumer_groups(&at, &topic)).await?.len(), 1)?;
    done("delete", client.delete_consumer_group(&at, &topic, &group)).await?;
    refused("deleted twice", client.delete_consumer_group(&at, &topic, &group), NO_SUCH_GROUP).await?;
    done("delete", client.delete_stream(&at)).await
}

async fn polls(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "group-polls", 3).await?;
    let (at, topic, group) = (id(&stream), id("one"), id("readers"));
    done("create", client.create_consumer_group(&at, &topic, "readers")).await?;
    done("join", client.join_consumer_group(&at, &topic, &group)).await?;
    for partition in 0..3 {
        send(&client, &stream, partition, numbered(0, 5)).await?;
    }
    let readers = Consumer::group(group);
    let mut seen = BTreeSet::new();
    let next = PollingStrategy::next();
    for _ in 0..3 {
        let call = client.poll_messages(&at, &topic, None, &readers, &next, 10, true);
        let polled = done("poll", call).await?;
        expect("messages", polled.messages.len(), 5)?;
        seen.insert(polled.partition_id);
        let call = client.get_consumer_offset(&readers, &at, &topic, Some(polled.partition_id));
        expect("committed", done("offset", call).await?.map(|one| one.stored_offset), Some(4))?;
    }
    expect("partitions", seen, BTreeSet::from([0, 1, 2]))?;
    done("delete", client.delete_stream(&at)).await
}

/// A high-level consumer that has joined the group and commits each message it hands over.
pub async fn member(client: &IggyClient, stream: &str) -> Result<IggyConsumer, String> {
    let builder = client.consumer_group("readers", stream, "one").map_err(|error| error.to_string())?;
    let mut consumer = builder
        .create_consumer_group_if_not_exists()
        .auto_join_consumer_group()
        .auto_commit(AutoCommit::When(AutoCommitWhen::ConsumingEachMessage))
        .polling_strategy(PollingStrategy::next())
        .poll_interval(IggyDuration::from(5_000_u64))
        .batch_length(10)
        .build();
    done("init", consumer.init()).await?;
    Ok(consumer)
}

/// Hands over what the consumer has right now; `(partition, offset)` of each message.
fn take(consumer: &mut IggyConsumer, seen: &mut BTreeSet<(u32, u64)>) -> Outcome {
    while let Some(Some(next)) = consumer.next().now_or_never() {
        let received = next.map_err(|error| format!("consumer: {error}"))?;
        seen.insert((received.partition_id, received.message.header.offset));
    }
    Ok(())
}

/// Where the members' partitions are, by count.
async fn shares(client: &IggyClient, stream: &str) -> Result<Vec<u32>, String> {
    let (at, topic, readers) = (id(stream), id("one"), id("readers"));
    let call = client.get_consumer_group(&at, &topic, &readers);
    let group = done("group", call).await?.ok_or("no group")?;
    let mut counts: Vec<u32> = group.members.iter().map(|one| one.partitions_count).collect();
    counts.sort_unstable();
    Ok(counts)
}

async fn send_everywhere(client: &IggyClient, stream: &str) -> Outcome {
    for partition in 0..PARTITIONS {
        send(client, stream, partition, numbered(0, 20)).await?;
    }
    Ok(())
}

fn all_below(end: u64) -> BTreeSet<(u32, u64)> {
    (0..PARTITIONS).flat_map(|partition| (0..end).map(move |offset| (partition, offset))).collect()
}

async fn rebalance(judge: &Judge) -> Outcome {
    let root = judge.client().await?;
    let stream = stream_with_topic(&root, judge, "rebalance", PARTITIONS).await?;
    let (one, two) = (judge.client().await?, judge.client().await?);
    let mut first = member(&one, &stream).await?;
    send_everywhere(&root, &stream).await?;
    let (mut of_first, mut of_second) = (BTreeSet::new(), BTreeSet::new());
    until("the first reads all", || {
        let taken = take(&mut first, &mut of_first).map(|()| of_first == all_below(20));
        async { taken }
    })
    .await?;
    let mut second = member(&two, &stream).await?;
    send_everywhere(&root, &stream).await?;
    until("both read on", || {
        let taken = take(&mut first, &mut of_first).and_then(|()| take(&mut second, &mut of_second));
        let read: BTreeSet<_> = of_first.union(&of_second).copied().collect();
        let done = taken.map(|()| read == all_below(40) && !of_second.is_empty());
        async { done }
    })
    .await?;
    expect("shares", shares(&root, &stream).await?, vec![2, 2])?;
    done("shutdown", second.shutdown()).await?;
    drop(second);
    done("close", two.shutdown()).await?;
    send_everywhere(&root, &stream).await?;
    until("the first reads the rest", || {
        let taken = take(&mut first, &mut of_first);
        let read: BTreeSet<_> = of_first.union(&of_second).copied().collect();
        let done = taken.map(|()| read == all_below(60));
        async { done }
    })
    .await?;
    expect("shares", shares(&root, &stream).await?, vec![PARTITIONS])?;
    done("shutdown", first.shutdown()).await?;
    done("delete", root.delete_stream(&id(&stream))).await
}
