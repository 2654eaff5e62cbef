// Command interop drives a Millrace server with the official Go client: `judge-go HOST:PORT`.
// See ../judge-process.mjs for the lines it prints.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/apache/iggy/foreign/go/client"
	"github.com/apache/iggy/foreign/go/client/tcp"
	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

// A case takes milliseconds; the largest message needs seconds on a busy machine.
const caseTimeout = 60 * time.Second

// judge holds what the cases share: the server's address and one logged-in client.
type judge struct {
	address string
	shared  iggcon.Client
	input   *bufio.Reader
}

// testCase is a true sentence and the function that fails, by panic, when it is not true.
type testCase struct {
	title string
	run   func(ctx context.Context, j *judge)
}

func main() {
	j := &judge{address: os.Args[1], input: bufio.NewReader(os.Stdin)}
	cases := slices.Concat(sessionCases, catalogCases, messageCases, pollCases, offsetCases,
		userCases, groupCases, restartCases)
	if os.Getenv("JUDGE_CLUSTER") != "" {
		cases = clusterCases
	}
	for _, one := range cases {
		if reason := j.try(one); reason != "" {
			fmt.Printf("FAILED %s: %s\n", one.title, strings.ReplaceAll(reason, "\n", "\\n"))
		} else {
			fmt.Printf("ok %s\n", one.title)
		}
	}
	fmt.Printf("done %d\n", len(cases))
}

// try runs a case and returns why it failed, empty when it did not.
func (j *judge) try(one testCase) (reason string) {
	defer func() {
		if failure := recover(); failure != nil {
			reason = fmt.Sprintf("%v %s", failure, callers(string(debug.Stack())))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), caseTimeout)
	defer cancel()
	one.run(ctx, j)
	return ""
}

// callers keeps, of a stack, the lines of the case files.
func callers(stack string) string {
	var kept []string
	for _, line := range strings.Split(stack, "\n") {
		if strings.Contains(line, "_cases.go:") {
			kept = append(kept, strings.Fields(line)[0])
		}
	}
	return strings.Join(kept, " ")
}

// connect gives a connected client that is not logged in; it encrypts when there is an authority to trust.
func (j *judge) connect(ctx context.Context, options ...tcp.Option) iggcon.Client {
	all := append([]tcp.Option{tcp.WithServerAddress(j.address)}, options...)
	if authority := os.Getenv("JUDGE_CA_FILE"); authority != "" {
		all = append(all, tcp.WithTLS(tcp.WithTLSCAFile(authority), tcp.WithTLSDomain("localhost")))
	}
	made := must(client.NewIggyClient(client.WithTcp(all...)))
	check(made.Connect(ctx))
	return made
}

// newClient gives a client of its own: logged in as root, and again after each lost connection.
func (j *judge) newClient(ctx context.Context) iggcon.Client {
	return j.connect(ctx, tcp.WithAutoLogin(tcp.NewUsernamePasswordCredentials("iggy", "iggy")))
}

// client gives the one of these that cases share.
func (j *judge) client(ctx context.Context) iggcon.Client {
	if j.shared == nil {
		j.shared = j.newClient(ctx)
	}
	return j.shared
}

// restartServer has the server killed and started again on the same port and data.
func (j *judge) restartServer() {
	j.order("restart", "running")
}

// order has something done to the server and waits for the answer.
func (j *judge) order(word, wanted string) {
	fmt.Println(word)
	j.await(wanted)
}

// await waits for the answer to a word that was printed.
func (j *judge) await(wanted string) {
	equal("answer", must(j.input.ReadString('\n')), wanted+"\n")
}
