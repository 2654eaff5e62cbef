package main

import (
	"context"
	"slices"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

const (
	errorStreamMissing = 1009
	errorStreamExists  = 1012
	errorTopicMissing  = 2010
	errorTopicExists   = 2013
	errorPartitions    = 2015
	errorOptionKey     = 4041
	errorOptionValue   = 4042

	mebibyte = 1 << 20
	catalog  = "catalog"
)

// textOption is a topic option given as text.
func textOption(key, value string) iggcon.HeaderEntry {
	return iggcon.HeaderEntry{
		Key:   iggcon.HeaderKey{Kind: iggcon.String, Value: []byte(key)},
		Value: iggcon.HeaderValue{Kind: iggcon.String, Value: []byte(value)},
	}
}

// createTopic makes a topic in the stream of this file, with the options.
func createTopic(ctx context.Context, j *judge, name string, options ...iggcon.HeaderEntry) error {
	_, err := j.client(ctx).CreateTopic(ctx, id(catalog), name, 1, iggcon.CompressionAlgorithmNone,
		iggcon.IggyExpiryServerDefault, 0, options...)
	return err
}

var catalogCases = []testCase{
	{"streams are created, read, renamed and deleted", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		made := must(client.CreateStream(ctx, "first-name"))
		equal("name", must(client.GetStream(ctx, id(made.Id))).Name, "first-name")
		_, err := client.CreateStream(ctx, "first-name")
		refused("duplicate", err, errorStreamExists)
		check(client.UpdateStream(ctx, id(made.Id), "second-name"))
		names := []string{}
		for _, stream := range must(client.GetStreams(ctx)) {
			names = append(names, stream.Name)
		}
		that(slices.Contains(names, "second-name"), "list: %v", names)
		check(client.DeleteStream(ctx, id("second-name")))
		refused("again", client.DeleteStream(ctx, id("second-name")), errorStreamMissing)
	}},
	{"a topic tells explicit from derived options", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		must(client.CreateStream(ctx, catalog))
		must(client.CreateTopic(ctx, id(catalog), "typed", 3, iggcon.CompressionAlgorithmGzip, 2*iggcon.Hour,
			64*mebibyte, iggcon.SegmentSizeOption(2*mebibyte), textOption("durability", "persisted")))
		topic := must(client.GetTopic(ctx, id(catalog), id("typed")))
		equal("partitions", topic.PartitionsCount, uint32(3))
		equal("expiry", topic.MessageExpiry, 2*iggcon.Hour)
		equal("size limit", topic.MaxTopicSize, uint64(64*mebibyte))
		equal("compression", topic.CompressionAlgorithm, uint8(iggcon.CompressionAlgorithmGzip))
		equal("durability", string(topic.Options["durability"].Value), "persisted")
		equal("derived", string(topic.DerivedOptions["consumer_offset_durability"].Value), "replicated")
		equal("all options", len(topic.Options)+len(topic.DerivedOptions), 9)
	}},
	{"unknown options, bad values, duplicates are refused", func(ctx context.Context, j *judge) {
		refused("key", createTopic(ctx, j, "refused", textOption("colour", "blue")), errorOptionKey)
		refused("value", createTopic(ctx, j, "refused", textOption("segment_size", "1000")), errorOptionValue)
		refused("duplicate", createTopic(ctx, j, "typed"), errorTopicExists)
	}},
	{"topics are updated, listed, purged and deleted", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		check(createTopic(ctx, j, "changing"))
		check(client.UpdateTopic(ctx, id(catalog), id("changing"), "changed", iggcon.CompressionAlgorithmNone,
			iggcon.Hour, 2<<30))
		topic := must(client.GetTopic(ctx, id(catalog), id("changed")))
		equal("expiry", topic.MessageExpiry, iggcon.Hour)
		equal("list", len(must(client.GetTopics(ctx, id(catalog)))), 2)
		check(client.DeleteTopic(ctx, id(catalog), id("changed")))
		refused("again", client.DeleteTopic(ctx, id(catalog), id("changed")), errorTopicMissing)
	}},
	{"partitions are added and removed", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		check(createTopic(ctx, j, "resized"))
		count := func() uint32 { return must(client.GetTopic(ctx, id(catalog), id("resized"))).PartitionsCount }
		check(client.CreatePartitions(ctx, id(catalog), id("resized"), 4))
		equal("grown", count(), uint32(5))
		check(client.DeletePartitions(ctx, id(catalog), id("resized"), 3))
		equal("shrunk", count(), uint32(2))
		refused("1001", client.CreatePartitions(ctx, id(catalog), id("resized"), 1001), errorPartitions)
		check(client.DeleteSegments(ctx, id(catalog), id("resized"), 0, 1))
		check(client.DeleteStream(ctx, id(catalog)))
	}},
}
