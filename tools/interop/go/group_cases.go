package main

import (
	"context"
	"fmt"
	"sort"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

const (
	errorGroupExists  = 5004
	errorGroupMissing = 5000
	errorNotAMember   = 5006

	group           = "readers"
	groupPartitions = 4
)

// member of the group: a client of its own and the "partition:payload" of what it has read.
type member struct {
	client iggcon.Client
	topic  string
	seen   map[string]bool
}

func joinGroup(ctx context.Context, j *judge, topic string) *member {
	client := j.newClient(ctx)
	check(client.JoinConsumerGroup(ctx, id(stream), id(topic), id(group)))
	return &member{client: client, topic: topic, seen: map[string]bool{}}
}

func (m *member) poll(ctx context.Context) {
	polled := must(m.client.PollMessages(ctx, id(stream), id(m.topic), iggcon.NewGroupConsumer(id(group)),
		iggcon.NextPollingStrategy(), 10, true, nil))
	for _, message := range polled.Messages {
		m.seen[fmt.Sprintf("%d:%s", polled.PartitionId, message.Payload)] = true
	}
}

// readAll lets the members poll in turn until they have seen the numbers below end of every partition.
func readAll(ctx context.Context, end int, members ...*member) {
	for {
		seen := map[string]bool{}
		for _, one := range members {
			one.poll(ctx)
			for text := range one.seen {
				seen[text] = true
			}
		}
		if len(seen) == groupPartitions*end {
			return
		}
		that(ctx.Err() == nil, "%d of %d messages read", len(seen), groupPartitions*end)
	}
}

func sendEverywhere(ctx context.Context, j *judge, topic string, from, to int) {
	for number := range uint32(groupPartitions) {
		send(ctx, j, topic, iggcon.PartitionId(number), numbered(from, to))
	}
}

// shares gives how many partitions each member has, fewest first.
func shares(ctx context.Context, j *judge, topic string) []int {
	found := must(j.client(ctx).GetConsumerGroup(ctx, id(stream), id(topic), id(group)))
	counts := []int{}
	for _, one := range found.Members {
		counts = append(counts, int(one.PartitionsCount))
	}
	sort.Ints(counts)
	return counts
}

var groupCases = []testCase{
	{"a group is created, joined, left and deleted", func(ctx context.Context, j *judge) {
		client, name := j.client(ctx), topic(ctx, j, "groups", 3)
		made := must(client.CreateConsumerGroup(ctx, id(stream), id(name), group))
		equal("partitions", made.PartitionsCount, uint32(3))
		_, err := client.CreateConsumerGroup(ctx, id(stream), id(name), group)
		refused("twice", err, errorGroupExists)
		check(client.JoinConsumerGroup(ctx, id(stream), id(name), id(group)))
		synced := must(client.SyncConsumerGroup(ctx, id(stream), id(name), id(group)))
		equal("synced", synced.Partitions, []uint32{0, 1, 2})
		check(client.LeaveConsumerGroup(ctx, id(stream), id(name), id(group)))
		refused("left twice", client.LeaveConsumerGroup(ctx, id(stream), id(name), id(group)), errorNotAMember)
		equal("listed", len(must(client.GetConsumerGroups(ctx, id(stream), id(name)))), 1)
		check(client.DeleteConsumerGroup(ctx, id(stream), id(name), id(group)))
		refused("gone", client.DeleteConsumerGroup(ctx, id(stream), id(name), id(group)), errorGroupMissing)
	}},
	{"a second member takes its share and what it leaves comes back", func(ctx context.Context, j *judge) {
		name := topic(ctx, j, "rebalance", groupPartitions)
		must(j.client(ctx).CreateConsumerGroup(ctx, id(stream), id(name), group))
		first := joinGroup(ctx, j, name)
		defer first.client.Close()
		sendEverywhere(ctx, j, name, 0, 20)
		readAll(ctx, 20, first)
		second := joinGroup(ctx, j, name)
		sendEverywhere(ctx, j, name, 20, 40)
		readAll(ctx, 40, first, second)
		equal("shares", shares(ctx, j, name), []int{2, 2})
		check(second.client.Close())
		for text := range second.seen {
			first.seen[text] = true
		}
		sendEverywhere(ctx, j, name, 40, 60)
		readAll(ctx, 60, first)
		equal("shares", shares(ctx, j, name), []int{groupPartitions})
	}},
}
