package main

import (
	"context"
	"fmt"
	"time"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

// numbersOf polls a topic of numbered messages, compares the payloads and returns the offsets as text.
func numbersOf(
	ctx context.Context, j *judge, topic string, strategy iggcon.PollingStrategy, count uint32, commit bool,
) string {
	offsets := []uint64{}
	for _, message := range poll(ctx, j, topic, strategy, count, commit) {
		equal("payload", string(message.Payload), fmt.Sprint(message.Header.Offset))
		offsets = append(offsets, message.Header.Offset)
	}
	return fmt.Sprint(offsets)
}

var pollCases = []testCase{
	{"every polling strategy brings what it says", func(ctx context.Context, j *judge) {
		name := topic(ctx, j, "strategies", 1)
		send(ctx, j, name, iggcon.PartitionId(0), numbered(0, 5))
		time.Sleep(10 * time.Millisecond)
		send(ctx, j, name, iggcon.PartitionId(0), numbered(5, 10))
		second := poll(ctx, j, name, iggcon.OffsetPollingStrategy(5), 1, false)[0].Header.Timestamp
		equal("offset", numbersOf(ctx, j, name, iggcon.OffsetPollingStrategy(3), 4, false), "[3 4 5 6]")
		equal("beyond", numbersOf(ctx, j, name, iggcon.OffsetPollingStrategy(10), 4, false), "[]")
		equal("first", numbersOf(ctx, j, name, iggcon.FirstPollingStrategy(), 2, false), "[0 1]")
		equal("last", numbersOf(ctx, j, name, iggcon.LastPollingStrategy(), 6, false), "[4 5 6 7 8 9]")
		equal("timestamp", numbersOf(ctx, j, name, iggcon.TimestampPollingStrategy(second), 2, false), "[5 6]")
		equal("old", numbersOf(ctx, j, name, iggcon.TimestampPollingStrategy(0), 3, false), "[0 1 2]")
	}},
	{"next with automatic commit walks, without it stays", func(ctx context.Context, j *judge) {
		name := topic(ctx, j, "walk", 1)
		send(ctx, j, name, iggcon.PartitionId(0), numbered(0, 5))
		equal("stays", numbersOf(ctx, j, name, iggcon.NextPollingStrategy(), 2, false), "[0 1]")
		equal("first", numbersOf(ctx, j, name, iggcon.NextPollingStrategy(), 2, true), "[0 1]")
		equal("second", numbersOf(ctx, j, name, iggcon.NextPollingStrategy(), 2, true), "[2 3]")
		equal("third", numbersOf(ctx, j, name, iggcon.NextPollingStrategy(), 2, true), "[4]")
		equal("end", numbersOf(ctx, j, name, iggcon.NextPollingStrategy(), 2, true), "[]")
	}},
}
