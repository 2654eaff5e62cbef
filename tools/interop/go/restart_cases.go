package main

import (
	"context"
	"fmt"
	"time"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

// comeBack waits until the client has its session again; calls during the reconnect may fail.
func comeBack(ctx context.Context, client iggcon.Client) {
	for {
		_, err := client.GetStreams(ctx)
		if err == nil {
			return
		}
		that(ctx.Err() == nil, "the client did not come back: %v", err)
		time.Sleep(200 * time.Millisecond)
	}
}

var restartCases = []testCase{
	{"after a kill and a restart everything is there", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		name := topic(ctx, j, "durable", 1)
		send(ctx, j, name, iggcon.PartitionId(0), numbered(0, 1000))
		consumer := iggcon.NewSingleConsumer(id("reader"))
		check(client.StoreConsumerOffset(ctx, consumer, id(stream), id(name), 499, partition(0)))
		j.restartServer()
		comeBack(ctx, client)
		messages := poll(ctx, j, name, iggcon.FirstPollingStrategy(), 1000, false)
		equal("messages", len(messages), 1000)
		for index, message := range messages {
			equal("payload", string(message.Payload), fmt.Sprint(index))
		}
		stored := must(client.GetConsumerOffset(ctx, consumer, id(stream), id(name), partition(0)))
		equal("offset", stored.StoredOffset, uint64(499))
		equal("next", send(ctx, j, name, iggcon.PartitionId(0), numbered(0, 1)).BaseOffset, uint64(1000))
		check(client.DeleteStream(ctx, id(stream)))
	}},
}
