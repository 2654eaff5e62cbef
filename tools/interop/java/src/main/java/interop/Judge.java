package interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Drives a Millrace server with the official Java client: {@code interop.Judge HOST:PORT}.
 *
 * <p>See ../../../../../judge-process.mjs for the lines it prints.
 */
public final class Judge {
    /** A case takes milliseconds; a rebalance waits for the client's next look at its assignment. */
    private static final Duration CASE_TIMEOUT = Duration.ofSeconds(60);

    private static final BufferedReader ANSWERS = new BufferedReader(new InputStreamReader(System.in));

    /** What a case does with the clients of one transport. */
    interface Run {
        void with(Clients clients) throws Exception;
    }

    /** A true sentence, without the transport that it is judged on, and what looks. */
    record Case(String title, Run run) {}

    private Judge() {}

    public static void main(String[] arguments) throws Exception {
        String address = arguments[arguments.length - 1];
        int count = 0;
        for (Clients clients : Clients.ofAllTransports(address)) {
            for (Case one : casesOf(clients)) {
                judge(one, clients);
                count += 1;
            }
            clients.close();
        }
        System.out.println("done " + count);
        System.exit(0);
    }

    private static List<Case> casesOf(Clients clients) {
        if (System.getenv("JUDGE_CLUSTER") != null) {
            // Over HTTP nobody follows a leader: a node passes on what it is asked to write.
            return clients.hasConnections() ? ClusterCases.CASES : List.of();
        }
        List<Case> cases = new ArrayList<>(SessionCases.CASES);
        cases.addAll(CatalogCases.CASES);
        cases.addAll(MessageCases.CASES);
        cases.addAll(UserCases.CASES);
        if (clients.hasConnections()) {
            cases.addAll(SessionCases.CASES_OF_CONNECTIONS);
            cases.addAll(GroupCases.CASES);
        }
        cases.addAll(RestartCases.CASES);
        return cases;
    }

    private static void judge(Case one, Clients clients) {
        String title = "over " + clients.transport() + ", " + one.title();
        try {
            CompletableFuture.runAsync(() -> run(one, clients)).get(CASE_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            System.out.println("ok " + title);
        } catch (ExecutionException error) {
            System.out.println("FAILED " + title + ": " + Expect.reason(error.getCause()).replace("\n", "\\n"));
        } catch (TimeoutException | InterruptedException error) {
            System.out.println("FAILED " + title + ": not done after " + CASE_TIMEOUT);
        }
    }

    private static void run(Case one, Clients clients) {
        try {
            one.run().with(clients);
        } catch (RuntimeException error) {
            throw error;
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    /** Has the server killed and started again on the same ports and data. */
    static void restartServer() throws IOException {
        order("restart", "running");
    }

    /** Has something done to the server and waits for the answer. */
    static void order(String word, String wanted) throws IOException {
        System.out.println(word);
        await(wanted);
    }

    /** Waits for the answer to a word that was printed. */
    static void await(String wanted) throws IOException {
        Expect.equal("answer", ANSWERS.readLine(), wanted);
    }
}
