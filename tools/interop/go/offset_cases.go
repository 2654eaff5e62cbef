package main

import (
	"context"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

const (
	errorOffsetMissing = 3021
	errorOffset        = 4100
)

var offsetCases = []testCase{
	{"offsets are stored, read, deleted; by number and name", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		name := topic(ctx, j, "offsets", 2)
		send(ctx, j, name, iggcon.PartitionId(1), numbered(0, 10))
		for _, who := range []iggcon.Identifier{id(uint32(42)), id("somebody")} {
			consumer := iggcon.NewSingleConsumer(who)
			check(client.StoreConsumerOffset(ctx, consumer, id(stream), id(name), 6, partition(1)))
			stored := must(client.GetConsumerOffset(ctx, consumer, id(stream), id(name), partition(1)))
			equal("stored", *stored, iggcon.ConsumerOffsetInfo{PartitionId: 1, CurrentOffset: 9, StoredOffset: 6})
			check(client.DeleteConsumerOffset(ctx, consumer, id(stream), id(name), partition(1)))
			again := client.DeleteConsumerOffset(ctx, consumer, id(stream), id(name), partition(1))
			refused("again", again, errorOffsetMissing)
			beyond := client.StoreConsumerOffset(ctx, consumer, id(stream), id(name), 10, partition(1))
			refused("beyond", beyond, errorOffset)
		}
	}},
}
