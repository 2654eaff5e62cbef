package main

import (
	"context"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

const (
	codeUnknown         = 60_000
	errorInvalidCommand = 3
	errorUnauthorised   = 40
	errorCredentials    = 42
)

var sessionCases = []testCase{
	{"ping works before any login and everything else is refused", func(ctx context.Context, j *judge) {
		client := j.connect(ctx)
		defer client.Close()
		check(client.Ping(ctx))
		_, err := client.GetStreams(ctx)
		refused("streams", err, errorUnauthorised)
		_, err = client.GetClusterMetadata(ctx)
		refused("roster", err, errorUnauthorised)
		check(client.Ping(ctx))
	}},
	{"the root user logs in, out and in again on one connection", func(ctx context.Context, j *judge) {
		client := j.connect(ctx)
		defer client.Close()
		for range 2 {
			identity := must(client.LoginUser(ctx, "iggy", "iggy"))
			equal("user", identity.UserId, uint32(0))
			must(client.GetStreams(ctx))
			check(client.LogoutUser(ctx))
		}
		_, err := client.GetStreams(ctx)
		refused("after logout", err, errorUnauthorised)
	}},
	{"a wrong password is refused", func(ctx context.Context, j *judge) {
		client := j.connect(ctx)
		defer client.Close()
		_, err := client.LoginUser(ctx, "iggy", "wrong-password")
		refused("login", err, errorCredentials)
	}},
	{"stats, clients and the roster describe the server", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		stats := must(client.GetStats(ctx))
		equal("version", stats.IggyServerVersion, "0.9.0")
		equal("version number", stats.IggyServerSemver, uint32(9000))
		that(stats.ProcessId > 0 && stats.ThreadsCount > 0 && stats.Hostname != "", "stats are empty: %+v", stats)
		clients := must(client.GetClients(ctx))
		that(len(clients) > 0, "no clients")
		found := must(client.GetClient(ctx, clients[0].ID))
		equal("address", found.Address, clients[0].Address)
		roster := must(client.GetClusterMetadata(ctx))
		equal("nodes", len(roster.Nodes), 1)
	}},
	{"topics have nine options, streams and users none", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		equal("topic", len(must(client.DescribeOptions(ctx, iggcon.OptionsScopeTopic))), 9)
		equal("stream", len(must(client.DescribeOptions(ctx, iggcon.OptionsScopeStream))), 0)
		equal("user", len(must(client.DescribeOptions(ctx, iggcon.OptionsScopeUser))), 0)
	}},
	{"an unknown command is refused and the session goes on", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		_, err := client.SendBinaryRequest(ctx, codeUnknown, nil)
		refused("unknown", err, errorInvalidCommand)
		must(client.GetStreams(ctx))
	}},
}
