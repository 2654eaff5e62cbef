//! The client's own producer and single consumer.

use std::str::FromStr;
use std::time::Duration;

use futures_util::StreamExt;
use iggy::prelude::*;
use tokio::time::timeout;

use crate::case_list;
use crate::judge::{Case, Judge, Outcome, done, expect, id};

const COUNT: u32 = 2_500;

pub fn cases() -> Vec<Case> {
    case_list![
        "the client's producer makes its topic and its consumer reads all of it in order" => both,
        "a producer in the background sends what it was given before it ends" => background,
    ]
}

fn messages(count: u32) -> Result<Vec<IggyMessage>, IggyError> {
    (0..count).map(|number| IggyMessage::from_str(&number.to_string())).collect()
}

/// A builder of a producer of the topic `one`, which it makes with one partition when there is none.
fn producer(client: &IggyClient, stream: &str) -> Result<IggyProducerBuilder, IggyError> {
    let (never, unlimited) = (IggyExpiry::NeverExpire, MaxTopicSize::Unlimited);
    let builder = client.producer(stream, "one")?.create_stream_if_not_exists();
    let builder = builder.create_topic_if_not_exists(1, never, unlimited);
    Ok(builder.partitioning(Partitioning::partition_id(0)))
}

async fn both(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = judge.named("high-level");
    let direct = DirectConfig::builder().batch_length(1000).build();
    let producer = producer(&client, &stream).map_err(|error| error.to_string())?.direct(direct).build();
    done("producer", producer.init()).await?;
    done("send", producer.send(messages(COUNT).map_err(|error| error.to_string())?)).await?;
    let builder = client.consumer("reader", &stream, "one", 0).map_err(|error| error.to_string())?;
    let mut consumer = builder
        .auto_commit(AutoCommit::When(AutoCommitWhen::PollingMessages))
        .polling_strategy(PollingStrategy::next())
        .batch_length(400)
        .build();
    done("consumer", consumer.init()).await?;
    for number in 0..COUNT {
        let next = timeout(Duration::from_secs(20), consumer.next()).await;
        let received = next.map_err(|_| format!("nothing after message {number}"))?.ok_or("the end")?;
        let received = received.map_err(|error| error.to_string())?;
        expect("offset", received.message.header.offset, u64::from(number))?;
        expect("payload", received.message.payload, number.to_string().into_bytes())?;
    }
    done("shutdown", consumer.shutdown()).await?;
    let (at, topic, reader) = (id(&stream), id("one"), Consumer::new(id("reader")));
    let call = client.get_consumer_offset(&reader, &at, &topic, Some(0));
    let stored = done("offset", call).await?.map(|one| one.stored_offset);
    expect("stored", stored, Some(u64::from(COUNT - 1)))?;
    done("delete", client.delete_stream(&at)).await
}

async fn background(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = judge.named("background");
    let config = BackgroundConfig::builder().batch_length(100).build();
    let producer = producer(&client, &stream).map_err(|error| error.to_string())?.background(config).build();
    done("producer", producer.init()).await?;
    done("send", producer.send(messages(COUNT).map_err(|error| error.to_string())?)).await?;
    producer.shutdown().await;
    let topic = done("topic", client.get_topic(&id(&stream), &id("one"))).await?.ok_or("no topic")?;
    expect("messages", topic.messages_count, u64::from(COUNT))?;
    done("delete", client.delete_stream(&id(&stream))).await
}
