package main

import (
	"bytes"
	"context"
	"fmt"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

const (
	errorNotFound = 20
	stream        = "messages"
)

// topic makes a topic in the stream of the message cases.
func topic(ctx context.Context, j *judge, name string, partitions uint32) string {
	client := j.client(ctx)
	if found, _ := client.GetStream(ctx, id(stream)); found == nil {
		must(client.CreateStream(ctx, stream))
	}
	must(client.CreateTopic(ctx, id(stream), name, partitions, iggcon.CompressionAlgorithmNone,
		iggcon.IggyExpiryServerDefault, 0))
	return name
}

// numbered gives messages whose payloads are the numbers from..to, end exclusive.
func numbered(from, to int) []iggcon.IggyMessage {
	messages := make([]iggcon.IggyMessage, 0, to-from)
	for number := from; number < to; number++ {
		messages = append(messages, must(iggcon.NewIggyMessage(fmt.Appendf(nil, "%d", number))))
	}
	return messages
}

// send sends and returns where the server says it put the messages.
func send(
	ctx context.Context, j *judge, topic string, where iggcon.Partitioning, messages []iggcon.IggyMessage,
) iggcon.SendMessagesConfirmation {
	answer := must(j.client(ctx).SendMessages(ctx, id(stream), id(topic), where, messages))
	equal("confirmations", len(answer.Confirmations), 1)
	return answer.Confirmations[0]
}

// poll reads from partition 0 as consumer 7.
func poll(
	ctx context.Context, j *judge, topic string, strategy iggcon.PollingStrategy, count uint32, commit bool,
) []iggcon.IggyMessage {
	consumer := iggcon.NewSingleConsumer(id(uint32(7)))
	answer := must(j.client(ctx).PollMessages(
		ctx, id(stream), id(topic), consumer, strategy, count, commit, partition(0)))
	equal("count", int(answer.MessageCount), len(answer.Messages))
	return answer.Messages
}

// headersOfAllKinds has one header of each kind.
func headersOfAllKinds() []iggcon.HeaderEntry {
	var entries []iggcon.HeaderEntry
	for kind := iggcon.Raw; kind <= iggcon.Double; kind++ {
		length := kind.ExpectedSize()
		if length < 0 {
			length = 20
		}
		key := must(iggcon.NewHeaderKeyString(fmt.Sprintf("kind-%d", kind)))
		value := iggcon.HeaderValue{Kind: kind, Value: bytes.Repeat([]byte{1}, length)}
		entries = append(entries, iggcon.HeaderEntry{Key: key, Value: value})
	}
	return entries
}

var messageCases = []testCase{
	{"payloads, ids and headers of every kind come back", func(ctx context.Context, j *judge) {
		name := topic(ctx, j, "round-trip", 1)
		headers := headersOfAllKinds()
		number := [16]byte{1, 2, 3, 15: 255}
		payload := []byte("with headers")
		sent := must(iggcon.NewIggyMessage(payload, iggcon.WithID(number), iggcon.WithUserHeaders(headers)))
		placed := send(ctx, j, name, iggcon.PartitionId(0), []iggcon.IggyMessage{sent})
		equal("offset", placed.BaseOffset, uint64(0))
		seen := poll(ctx, j, name, iggcon.FirstPollingStrategy(), 1, false)[0]
		equal("payload", seen.Payload, payload)
		equal("id", [16]byte(seen.Header.Id), number)
		equal("headers", must(iggcon.DeserializeHeaders(seen.UserHeaders)), headers)
		equal("origin timestamp", seen.Header.OriginTimestamp, sent.Header.OriginTimestamp)
		that(seen.Header.Timestamp > 0, "no timestamp")
	}},
	{"a message of 8 MiB and a batch of 5,000 messages go through whole", func(ctx context.Context, j *judge) {
		name := topic(ctx, j, "large", 1)
		payload := bytes.Repeat([]byte("01234567"), 1<<20)
		send(ctx, j, name, iggcon.PartitionId(0), []iggcon.IggyMessage{must(iggcon.NewIggyMessage(payload))})
		placed := send(ctx, j, name, iggcon.PartitionId(0), numbered(1, 5001))
		equal("offset", placed.BaseOffset, uint64(1))
		first := poll(ctx, j, name, iggcon.FirstPollingStrategy(), 1, false)
		that(bytes.Equal(first[0].Payload, payload), "the large payload differs")
		rest := poll(ctx, j, name, iggcon.OffsetPollingStrategy(1), 5000, false)
		equal("messages", len(rest), 5000)
		for index, message := range rest {
			equal("payload", string(message.Payload), fmt.Sprint(index+1))
			equal("offset", message.Header.Offset, uint64(index+1))
		}
	}},
	{"balanced sends go round, keys stay in one partition", func(ctx context.Context, j *judge) {
		name := topic(ctx, j, "spread", 3)
		used := map[uint32]int{}
		for range 6 {
			used[send(ctx, j, name, iggcon.None(), numbered(0, 1)).PartitionId]++
		}
		equal("balanced", used, map[uint32]int{0: 2, 1: 2, 2: 2})
		key := must(iggcon.EntityIdString("a-key"))
		at := send(ctx, j, name, key, numbered(0, 1)).PartitionId
		for range 5 {
			equal("key", send(ctx, j, name, key, numbered(0, 1)).PartitionId, at)
		}
	}},
	{"sending to what is missing is refused", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		name := topic(ctx, j, "refusing", 1)
		_, err := client.SendMessages(ctx, id(stream), id(name), iggcon.PartitionId(9), numbered(0, 1))
		refused("partition", err, errorNotFound)
		_, err = client.SendMessages(ctx, id(stream), id("missing"), iggcon.PartitionId(0), numbered(0, 1))
		refused("topic", err, errorNotFound)
		send(ctx, j, name, iggcon.PartitionId(0), numbered(0, 1))
	}},
}
