//! Streams, topics, partitions and segments.

use iggy::prelude::*;

use crate::case_list;
use crate::judge::{Case, Judge, Outcome, done, expect, id, refused};

const STREAM_TAKEN: &[u32] = &[1012];
const TOPIC_TAKEN: &[u32] = &[2013];
const NOT_FOUND: &[u32] = &[20, 1009, 2010, 3007];

pub fn cases() -> Vec<Case> {
    case_list![
        "a stream is created, listed, renamed, purged and deleted" => stream,
        "a topic keeps what it was made with and what is changed" => topic,
        "names that are taken and things that are missing are refused" => refusals,
        "partitions are added and removed" => partitions,
        "deleting no sealed segments changes nothing" => segments,
    ]
}

async fn stream(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let (name, renamed) = (judge.named("plain"), judge.named("renamed"));
    let made = done("create", client.create_stream(&name)).await?;
    expect("name", made.name.as_str(), name.as_str())?;
    let listed = done("list", client.get_streams()).await?;
    expect("listed", listed.iter().any(|one| one.id == made.id && one.name == name), true)?;
    let no_options = StreamUpdateOptions::default();
    done("rename", client.update_stream(&id(&name), &renamed, &no_options)).await?;
    expect("old name", done("get", client.get_stream(&id(&name))).await?.is_none(), true)?;
    let found = done("get", client.get_stream(&Identifier::numeric(made.id).expect("an id"))).await?;
    expect("new name", found.map(|one| one.name), Some(renamed.clone()))?;
    done("purge", client.purge_stream(&id(&renamed))).await?;
    done("delete", client.delete_stream(&id(&renamed))).await?;
    expect("gone", done("get", client.get_stream(&id(&renamed))).await?.is_none(), true)
}

async fn topic(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = judge.named("topics");
    done("stream", client.create_stream(&stream)).await?;
    let options = TopicCreateOptions {
        partitions_count: Some(3),
        compression_algorithm: Some(CompressionAlgorithm::Gzip),
        message_expiry: Some(IggyExpiry::ExpireDuration(IggyDuration::new_from_secs(3600))),
        max_topic_size: Some(MaxTopicSize::Custom(IggyByteSize::from(2_u64 << 30))),
        ..Default::default()
    };
    let made = done("create", client.create_topic(&id(&stream), "one", &options)).await?;
    expect("partitions", made.partitions_count, 3)?;
    expect("compression", made.compression_algorithm, CompressionAlgorithm::Gzip)?;
    expect("expiry", Some(made.message_expiry), options.message_expiry)?;
    expect("size", Some(made.max_topic_size), options.max_topic_size)?;
    let change = TopicUpdateOptions {
        compression_algorithm: Some(CompressionAlgorithm::None),
        message_expiry: Some(IggyExpiry::NeverExpire),
        ..Default::default()
    };
    done("update", client.update_topic(&id(&stream), &id("one"), "two", &change)).await?;
    let found = done("get", client.get_topic(&id(&stream), &id("two"))).await?.ok_or("no topic `two`")?;
    expect("expiry", found.message_expiry, IggyExpiry::NeverExpire)?;
    expect("compression", found.compression_algorithm, CompressionAlgorithm::None)?;
    expect("topics", done("list", client.get_topics(&id(&stream))).await?.len(), 1)?;
    done("purge", client.purge_topic(&id(&stream), &id("two"))).await?;
    done("delete", client.delete_topic(&id(&stream), &id("two"))).await?;
    expect("absent", done("get", client.get_topic(&id(&stream), &id("two"))).await?.is_none(), true)?;
    done("stream", client.delete_stream(&id(&stream))).await
}

async fn refusals(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = judge.named("taken");
    let options = TopicCreateOptions::default();
    done("create", client.create_stream(&stream)).await?;
    refused("stream twice", client.create_stream(&stream), STREAM_TAKEN).await?;
    done("topic", client.create_topic(&id(&stream), "one", &options)).await?;
    refused("topic twice", client.create_topic(&id(&stream), "one", &options), TOPIC_TAKEN).await?;
    refused("absent stream", client.delete_stream(&id("absent")), NOT_FOUND).await?;
    refused("absent topic", client.delete_topic(&id(&stream), &id("absent")), NOT_FOUND).await?;
    let into = id("absent");
    refused("topic of an absent stream", client.create_topic(&into, "one", &options), NOT_FOUND).await?;
    done("delete", client.delete_stream(&id(&stream))).await
}

async fn partitions(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = judge.named("partitions");
    done("stream", client.create_stream(&stream)).await?;
    let options = TopicCreateOptions { partitions_count: Some(1), ..Default::default() };
    done("topic", client.create_topic(&id(&stream), "one", &options)).await?;
    done("add", client.create_partitions(&id(&stream), &id("one"), 2)).await?;
    let wider = done("get", client.get_topic(&id(&stream), &id("one"))).await?.ok_or("no topic")?;
    expect("ids", wider.partitions.iter().map(|one| one.id).collect::<Vec<_>>(), vec![0, 1, 2])?;
    done("remove", client.delete_partitions(&id(&stream), &id("one"), 2)).await?;
    let narrow = done("get", client.get_topic(&id(&stream), &id("one"))).await?.ok_or("no topic")?;
    expect("partitions", narrow.partitions_count, 1)?;
    done("delete", client.delete_stream(&id(&stream))).await
}

async fn segments(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = judge.named("segments");
    done("stream", client.create_stream(&stream)).await?;
    let options = TopicCreateOptions { partitions_count: Some(1), ..Default::default() };
    done("topic", client.create_topic(&id(&stream), "one", &options)).await?;
    done("delete segments", client.delete_segments(&id(&stream), &id("one"), 0, 1)).await?;
    done("delete", client.delete_stream(&id(&stream))).await
}
