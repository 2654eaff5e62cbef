package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

const (
	// The others miss the leader after two seconds; a client may lose several more on a dead address.
	goesOnMax = 30 * time.Second
	batch     = 5
	batches   = 40
)

// writer sends numbered messages, batch after batch, and keeps where those that were acknowledged are. A batch
// that ends in an error has an open outcome: it is not sent again, so nothing has to be there twice.
type writer struct {
	client       iggcon.Client
	topic        string
	acknowledged map[int]uint64
	next         int
}

// write goes on until that many more batches are acknowledged.
func (w *writer) write(ctx context.Context, count int) {
	wanted := len(w.acknowledged) + count
	var last error
	for end := time.Now().Add(goesOnMax); len(w.acknowledged) < wanted; {
		that(time.Now().Before(end), "writes do not go on: %v", last)
		first := w.next
		w.next += batch
		answer, err := w.client.SendMessages(
			ctx, id(stream), id(w.topic), iggcon.PartitionId(0), numbered(first, w.next))
		if err == nil {
			w.acknowledged[first] = answer.Confirmations[0].BaseOffset
			continue
		}
		last = err
		time.Sleep(100 * time.Millisecond)
	}
}

// expectAll fails unless every acknowledged batch is where that was confirmed and nothing is there twice.
func (w *writer) expectAll(ctx context.Context, client iggcon.Client) {
	seen := everything(ctx, client, w.topic)
	that(slices.IsSorted(seen) && len(slices.Compact(slices.Clone(seen))) == len(seen), "each once, in order")
	for first, offset := range w.acknowledged {
		that(int(offset)+batch <= len(seen), "batch at %d is lost", offset)
		for step := range batch {
			equal(fmt.Sprintf("offset %d", int(offset)+step), seen[int(offset)+step], first+step)
		}
	}
}

// everything gives the number in each message of partition 0; its index is its offset.
func everything(ctx context.Context, client iggcon.Client, topic string) []int {
	var seen []int
	for {
		from := iggcon.OffsetPollingStrategy(uint64(len(seen)))
		polled := must(client.PollMessages(ctx, id(stream), id(topic),
			iggcon.NewSingleConsumer(id(uint32(7))), from, 1000, false, partition(0)))
		if len(polled.Messages) == 0 {
			return seen
		}
		for _, message := range polled.Messages {
			equal("offset", message.Header.Offset, uint64(len(seen)))
			seen = append(seen, must(strconv.Atoi(string(message.Payload))))
		}
	}
}

// pollUntil reads for the group until enough was seen; what fails is asked again.
func (m *member) pollUntil(ctx context.Context, wanted func(seen map[string]bool) bool) {
	var last error
	for end := time.Now().Add(goesOnMax + 15*time.Second); !wanted(m.seen); {
		that(time.Now().Before(end), "reading does not go on: %v", last)
		polled, err := m.client.PollMessages(ctx, id(stream), id(m.topic),
			iggcon.NewGroupConsumer(id(group)), iggcon.NextPollingStrategy(), 10, true, nil)
		if err != nil {
			last = err
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for _, message := range polled.Messages {
			m.seen[string(message.Payload)] = true
		}
	}
}

var clusterCases = []testCase{
	{"a client that knows one node that does not lead creates, writes and reads",
		func(ctx context.Context, j *judge) {
			name := topic(ctx, j, "known", 2)
			equal("offset", send(ctx, j, name, iggcon.PartitionId(0), numbered(0, 1)).BaseOffset, uint64(0))
			equal("messages", len(poll(ctx, j, name, iggcon.FirstPollingStrategy(), 9, false)), 1)
			equal("nodes", len(must(j.client(ctx).GetClusterMetadata(ctx)).Nodes), 3)
		}},
	{"a producer goes on through the kill of two leaders and nothing acknowledged is lost",
		func(ctx context.Context, j *judge) {
			w := &writer{client: j.client(ctx), topic: topic(ctx, j, "produced", 1), acknowledged: map[int]uint64{}}
			w.write(ctx, batches)
			for range 2 {
				fmt.Println("kill-leader")
				w.write(ctx, batches)
				j.await("killed")
				w.write(ctx, batches)
				j.order("start-killed", "running")
				w.write(ctx, batches)
			}
			w.expectAll(ctx, w.client)
			w.expectAll(ctx, j.newClient(ctx))
		}},
	{"a member of a group reads on through the kill of the leader and gets everything",
		func(ctx context.Context, j *judge) {
			w := &writer{client: j.newClient(ctx), topic: topic(ctx, j, "consumed", 1), acknowledged: map[int]uint64{}}
			must(w.client.CreateConsumerGroup(ctx, id(stream), id(w.topic), group))
			reader := joinGroup(ctx, j, w.topic)
			w.write(ctx, batches)
			reader.pollUntil(ctx, func(seen map[string]bool) bool { return len(seen) >= batch })
			j.order("kill-leader", "killed")
			w.write(ctx, batches)
			reader.pollUntil(ctx, func(seen map[string]bool) bool {
				for first := range w.acknowledged {
					for step := range batch {
						if !seen[strconv.Itoa(first+step)] {
							return false
						}
					}
				}
				return true
			})
			j.order("start-killed", "running")
		}},
}
