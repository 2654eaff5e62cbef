package main

import (
	"context"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

const (
	errorForbidden    = 41
	errorUserExists   = 46
	errorTokenExists  = 51
	errorTokenInvalid = 53

	password = "a-password"
	// The client writes it as the upper half of the microseconds: a bit more than an hour.
	tokenExpiry = 1
)

// loggedIn gives a client that logged in once.
func loggedIn(ctx context.Context, j *judge, name, password string) (iggcon.Client, error) {
	client := j.connect(ctx)
	_, err := client.LoginUser(ctx, name, password)
	return client, err
}

var userCases = []testCase{
	{"a user is created, listed, renamed and deleted", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		must(client.CreateUser(ctx, "ann", password, iggcon.Active, nil))
		_, err := client.CreateUser(ctx, "ann", password, iggcon.Active, nil)
		refused("twice", err, errorUserExists)
		renamed := "anna"
		check(client.UpdateUser(ctx, id("ann"), &renamed, nil))
		equal("name", must(client.GetUser(ctx, id(renamed))).Username, renamed)
		equal("users", len(must(client.GetUsers(ctx))), 2)
		check(client.DeleteUser(ctx, id(renamed)))
		equal("left", len(must(client.GetUsers(ctx))), 1)
	}},
	{"permissions allow what they say, at once", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		must(client.CreateUser(ctx, "bob", password, iggcon.Active, nil))
		bob := must(loggedIn(ctx, j, "bob", password))
		defer bob.Close()
		_, err := bob.GetStreams(ctx)
		refused("streams", err, errorForbidden)
		granted := &iggcon.Permissions{Global: iggcon.GlobalPermissions{ReadStreams: true}}
		check(client.UpdatePermissions(ctx, id("bob"), granted))
		must(bob.GetStreams(ctx))
		_, err = bob.CreateStream(ctx, "bobs")
		refused("create", err, errorForbidden)
		equal("shown", must(client.GetUser(ctx, id("bob"))).Permissions.Global, granted.Global)
	}},
	{"a password is changed", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		refused("wrong", client.ChangePassword(ctx, id("bob"), "not-it", "another-one"), errorCredentials)
		check(client.ChangePassword(ctx, id("bob"), password, "another-one"))
		old, err := loggedIn(ctx, j, "bob", password)
		defer old.Close()
		refused("old", err, errorCredentials)
		must(loggedIn(ctx, j, "bob", "another-one")).Close()
		check(client.DeleteUser(ctx, id("bob")))
	}},
	{"a token logs in until it is deleted", func(ctx context.Context, j *judge) {
		client := j.client(ctx)
		token := must(client.CreatePersonalAccessToken(ctx, "a-token", tokenExpiry)).Token
		_, err := client.CreatePersonalAccessToken(ctx, "a-token", tokenExpiry)
		refused("twice", err, errorTokenExists)
		equal("listed", len(must(client.GetPersonalAccessTokens(ctx))), 1)
		bearer := j.connect(ctx)
		defer bearer.Close()
		equal("user", must(bearer.LoginWithPersonalAccessToken(ctx, token)).UserId, uint32(0))
		must(bearer.GetStreams(ctx))
		check(client.DeletePersonalAccessToken(ctx, "a-token"))
		late := j.connect(ctx)
		defer late.Close()
		_, err = late.LoginWithPersonalAccessToken(ctx, token)
		refused("deleted", err, errorTokenInvalid)
	}},
}
