//! A cluster of three nodes whose leader is killed, as a client sees it that knows one node that does not lead.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::FutureExt;
use iggy::prelude::*;
use tokio::time::{Instant, sleep};

use crate::case_list;
use crate::group_cases::member;
use crate::judge::{Case, Judge, Outcome, done, expect, id};
use crate::message_cases::{numbered, poll, send, stream_with_topic, texts};

/// The others miss the leader after two seconds; a client may lose several more on a dead address.
const GOES_ON_MAX: Duration = Duration::from_secs(30);
const BATCH: u32 = 5;
const BATCHES: usize = 40;
/// Enough that the leader dies while a member reads.
const BATCHES_TO_READ: usize = 200;
/// The member of a connection that died with its node keeps its partitions for 16 s here, and others wait for them.
const NOTHING_COMES: Duration = Duration::from_secs(20);

pub fn cases() -> Vec<Case> {
    case_list!["a client that knows one node that does not lead creates, writes and reads" => leads_on]
}

/// What a client does by itself that tries the addresses of the roster in turn.
pub fn cases_with_the_roster() -> Vec<Case> {
    case_list![
        "a producer goes on through the kill of two leaders and nothing acknowledged is lost" => producer_goes_on,
        "a member of a group reads on through the kill of the leader, everything and in order" => member_goes_on,
        "the client's own producer goes on through the kill of the leader" => own_producer_goes_on,
    ]
}

/// Over WebSocket the client tries the address that it lost again and again, so the program has to go on.
pub fn cases_with_one_address() -> Vec<Case> {
    case_list!["a program that takes the next address of the roster goes on when the leader is killed" => program_goes_on]
}

/// Sends numbered messages, batch after batch, and keeps what was acknowledged. A batch that ends in an error has
/// an open outcome: it is not sent again, so nothing has to be there twice.
struct Writer<'a> {
    client: &'a IggyClient,
    stream: &'a str,
    /// First number of each acknowledged batch, and the offset that was confirmed.
    acknowledged: BTreeMap<u32, u64>,
    next: u32,
}

impl<'a> Writer<'a> {
    fn new(client: &'a IggyClient, stream: &'a str) -> Self {
        Self { client, stream, acknowledged: BTreeMap::new(), next: 0 }
    }

    /// Until that many more batches are acknowledged.
    async fn write(&mut self, count: usize) -> Outcome {
        let wanted = self.acknowledged.len() + count;
        let end = Instant::now() + GOES_ON_MAX;
        let mut last_error = String::new();
        while self.acknowledged.len() < wanted {
            if Instant::now() > end {
                return Err(format!("writes do not go on: {last_error}"));
            }
            if let Err(error) = self.send_next().await {
                last_error = error;
                sleep(Duration::from_millis(100)).await;
            }
        }
        Ok(())
    }

    /// Sends the next batch once.
    async fn send_next(&mut self) -> Outcome {
        let first = self.next;
        self.next += BATCH;
        let answer = send(self.client, self.stream, 0, numbered(first, self.next)).await?;
        self.acknowledged.insert(first, answer.confirmations[0].base_offset);
        Ok(())
    }

    /// Every acknowledged batch is at the offset that was confirmed, and nothing is there twice or moved.
    async fn expect_all(&self, client: &IggyClient) -> Outcome {
        let seen = everything(client, self.stream).await?;
        expect("each message once, in order", seen.is_sorted_by(|one, next| one < next), true)?;
        for (&first, &offset) in &self.acknowledged {
            let from = usize::try_from(offset).map_err(|error| error.to_string())?;
            let found: Vec<u32> = seen.iter().skip(from).take(BATCH as usize).copied().collect();
            expect(&format!("batch at {offset}"), found, (first..first + BATCH).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// The numbers of the acknowledged messages.
    fn numbers(&self) -> Vec<u32> {
        self.acknowledged.keys().flat_map(|&first| first..first + BATCH).collect()
    }
}

/// The number in each message of partition 0; its index is its offset.
async fn everything(client: &IggyClient, stream: &str) -> Result<Vec<u32>, String> {
    let mut seen = Vec::new();
    loop {
        let polled = poll(client, stream, 0, PollingStrategy::offset(seen.len() as u64), 1000).await?;
        if polled.is_empty() {
            return Ok(seen);
        }
        let offset = polled[0].header.offset;
        expect("offset of what is read next", offset, seen.len() as u64)?;
        for text in texts(&polled) {
            seen.push(text.parse().map_err(|error| format!("`{text}`: {error}"))?);
        }
    }
}

async fn leads_on(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "known", 2).await?;
    expect("first offset", send(&client, &stream, 0, numbered(0, 1)).await?.confirmations[0].base_offset, 0)?;
    expect("payloads", texts(&poll(&client, &stream, 0, PollingStrategy::first(), 9).await?), vec!["0"])?;
    let roster = done("roster", client.get_cluster_metadata()).await?;
    expect("nodes", roster.nodes.len(), 3)?;
    let leaders = roster.nodes.iter().filter(|one| one.role == ClusterNodeRole::Leader).count();
    expect("leaders", leaders, 1)
}

async fn producer_goes_on(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "produced", 1).await?;
    let mut writer = Writer::new(&client, &stream);
    writer.write(BATCHES).await?;
    for _ in 0..2 {
        let (killed, written) = tokio::join!(judge.kill_leader(), writer.write(BATCHES));
        killed.and(written)?;
        writer.write(BATCHES).await?;
        judge.start_killed().await?;
        writer.write(BATCHES).await?;
    }
    writer.expect_all(&client).await?;
    writer.expect_all(&judge.client().await?).await
}

async fn member_goes_on(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "consumed", 1).await?;
    let mut writer = Writer::new(&client, &stream);
    writer.write(BATCHES_TO_READ).await?;
    let mut reader = Reader::new(judge, &stream).await?;
    reader.read_until("the member reads", |seen| !seen.is_empty()).await?;
    judge.kill_leader().await?;
    writer.write(BATCHES).await?;
    let wanted = writer.numbers();
    reader
        .read_until("the member has everything", |seen| wanted.iter().all(|number| seen.contains(number)))
        .await?;
    expect("in order", reader.seen.is_sorted(), true)?;
    done("shutdown", reader.consumer.shutdown()).await?;
    judge.start_killed().await
}

/// A program with a member of a group: it reads on after an error, and makes a new consumer when nothing comes.
///
/// After a lost connection the client's own consumer may never bring anything again: it passes over what comes a
/// second time because its commits were lost, and then asks for the same without an end.
struct Reader<'a> {
    judge: &'a Judge,
    stream: &'a str,
    consumer: IggyConsumer,
    /// Numbers in the order in which they came first.
    seen: Vec<u32>,
    /// When the last one came, or the consumer was made.
    came: Instant,
}

impl<'a> Reader<'a> {
    async fn new(judge: &'a Judge, stream: &'a str) -> Result<Self, String> {
        let consumer = member(&judge.client().await?, stream).await?;
        Ok(Self { judge, stream, consumer, seen: Vec::new(), came: Instant::now() })
    }

    async fn read_until(&mut self, what: &str, is_enough: impl Fn(&[u32]) -> bool) -> Outcome {
        let end = Instant::now() + GOES_ON_MAX + NOTHING_COMES;
        while !is_enough(&self.seen) {
            if Instant::now() > end {
                return Err(format!(
                    "{what}: {} came, no more within {:?}",
                    self.seen.len(),
                    GOES_ON_MAX + NOTHING_COMES
                ));
            }
            self.take();
            if self.came.elapsed() > NOTHING_COMES {
                done("shutdown", self.consumer.shutdown()).await?;
                self.consumer = member(&self.judge.client().await?, self.stream).await?;
                self.came = Instant::now();
            }
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Hands over what the consumer has right now that it has not handed over before. Its errors are those of the
    /// connection that was lost.
    fn take(&mut self) {
        while let Some(Some(next)) = futures_util::StreamExt::next(&mut self.consumer).now_or_never() {
            let Ok(received) = next else { continue };
            let number = String::from_utf8_lossy(&received.message.payload).parse().unwrap_or(u32::MAX);
            if !self.seen.contains(&number) {
                self.seen.push(number);
                self.came = Instant::now();
            }
        }
    }
}

async fn own_producer_goes_on(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "own-producer", 1).await?;
    let builder = client.producer(&stream, "one").map_err(|error| error.to_string())?;
    let builder = builder.partitioning(Partitioning::partition_id(0));
    let producer = builder.direct(DirectConfig::builder().batch_length(100).build()).build();
    done("producer", producer.init()).await?;
    let mut acknowledged = Vec::new();
    let sending = async |from: u32, to: u32, acknowledged: &mut Vec<u32>| {
        for number in from..to {
            match producer.send(numbered(number, number + 1)).await {
                Ok(_) => acknowledged.push(number),
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    };
    sending(0, 40, &mut acknowledged).await;
    let (killed, ()) = tokio::join!(judge.kill_leader(), sending(40, 120, &mut acknowledged));
    killed?;
    let before = acknowledged.len();
    sending(120, 160, &mut acknowledged).await;
    expect("acknowledged after the election", acknowledged.len(), before + 40)?;
    judge.start_killed().await?;
    // This producer sends again by itself what had no answer: that may be there twice, side by side.
    let seen = everything(&judge.client().await?, &stream).await?;
    expect("in order", seen.is_sorted(), true)?;
    let lost: Vec<_> = acknowledged.iter().filter(|number| !seen.contains(number)).collect();
    expect("lost", lost, Vec::<&u32>::new())?;
    done("delete", client.delete_stream(&id(&stream))).await
}

async fn program_goes_on(judge: &Judge) -> Outcome {
    let client = judge.client().await?;
    let stream = stream_with_topic(&client, judge, "listed", 1).await?;
    let mut nodes = done("roster", client.get_cluster_metadata()).await?.nodes;
    nodes.sort_by_key(|one| one.role != ClusterNodeRole::Leader);
    let addresses: Vec<String> = nodes.iter().map(|one| judge.address_of(one)).collect();
    let mut acknowledged = BTreeMap::new();
    let mut next = 0;
    let mut current = judge.impatient_client(&addresses[0]).await?;
    let mut errors = 0;
    for round in 0..2 {
        let end = Instant::now() + GOES_ON_MAX;
        let wanted = acknowledged.len() + BATCHES;
        while acknowledged.len() < wanted {
            let mut writer = Writer { client: &current, stream: &stream, acknowledged, next };
            let sent = writer.send_next().await;
            (acknowledged, next) = (writer.acknowledged, writer.next);
            let Err(error) = sent else { continue };
            expect(&format!("goes on after `{error}`"), Instant::now() < end, true)?;
            errors += 1;
            if let Ok(other) = judge.impatient_client(&addresses[errors % addresses.len()]).await {
                current = other;
            }
        }
        if round == 0 {
            judge.kill_leader().await?;
        }
    }
    judge.start_killed().await?;
    expect("errors", errors > 0, true)?;
    Writer { client: &current, stream: &stream, acknowledged, next }.expect_all(&current).await
}
