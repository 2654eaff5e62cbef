package interop;

import interop.Judge.Case;
import java.util.List;
import org.apache.iggy.client.blocking.IggyBaseClient;
import org.apache.iggy.cluster.ClusterNodeRole;
import org.apache.iggy.system.OptionsScope;

/** Logging in and out, and the commands that describe the server. */
final class SessionCases {
    private static final int INVALID_COMMAND = 3;
    private static final int INVALID_CREDENTIALS = 42;
    private static final int COMMAND_THAT_IS_NOT = 60_000;

    static final List<Case> CASES = List.of(
            new Case("ping works before any login and a read is refused", SessionCases::beforeLogin),
            new Case("a wrong password and an unknown user are refused", SessionCases::wrongPassword),
            new Case("stats describe the process and say version 0.9.0", SessionCases::stats),
            new Case("topics have options, streams and users none", SessionCases::options),
            new Case("the roster names one leader", SessionCases::roster));

    /** What only a client with a connection of its own can ask. */
    static final List<Case> CASES_OF_CONNECTIONS = List.of(
            new Case("the root user logs in, out and in again on one client", SessionCases::login),
            new Case("get-me answers this client and the list holds it", SessionCases::me),
            new Case("an unknown command is refused and the session goes on", SessionCases::unknownCommand));

    private SessionCases() {}

    private static void beforeLogin(Clients clients) {
        IggyBaseClient client = clients.stranger();
        client.system().ping();
        Expect.refusedWithoutLogin(() -> client.streams().getStreams());
        client.system().ping();
    }

    private static void wrongPassword(Clients clients) {
        for (String name : List.of("iggy", "nobody")) {
            IggyBaseClient client = clients.stranger();
            Expect.refused(name, () -> client.users().login(name, "wrong-password"), INVALID_CREDENTIALS);
        }
    }

    private static void stats(Clients clients) {
        var stats = clients.root().system().getStats();
        Expect.equal("version", stats.iggyServerVersion(), "0.9.0");
        Expect.equal("version number", stats.iggyServerSemver().orElse(0L), 9000L);
        Expect.that("process and threads", stats.processId() > 0 && stats.threadsCount() > 0);
        Expect.that("names", !stats.hostname().isEmpty() && !stats.osName().isEmpty());
    }

    private static void options(Clients clients) {
        var system = clients.root().system();
        Expect.equal("topic", system.describeOptions(OptionsScope.Topic).size(), 9);
        Expect.equal("stream", system.describeOptions(OptionsScope.Stream).size(), 0);
        Expect.equal("user", system.describeOptions(OptionsScope.User).size(), 0);
    }

    private static void roster(Clients clients) {
        var nodes = clients.root().system().getClusterMetadata().nodes();
        Expect.equal("nodes", nodes.size(), 1);
        Expect.equal("role", nodes.get(0).role(), ClusterNodeRole.Leader);
    }

    private static void login(Clients clients) {
        IggyBaseClient client = clients.stranger();
        for (int round = 0; round < 2; round++) {
            Expect.equal("user", client.users().login("iggy", "iggy").userId(), 0L);
            client.streams().getStreams();
            client.users().logout();
        }
        Expect.refusedWithoutLogin(() -> client.streams().getStreams());
    }

    private static void me(Clients clients) {
        var system = clients.root().system();
        var me = system.getMe();
        // The client reads the root's id 0 as no id at all.
        Expect.equal("user", me.userId().orElse(0L), 0L);
        Expect.that("in the list", system.getClients().stream().anyMatch(one -> one.clientId().equals(me.clientId())));
        Expect.equal("address", system.getClient(me.clientId()).address(), me.address());
    }

    private static void unknownCommand(Clients clients) {
        var client = clients.root();
        Expect.refused("unknown", () -> client.sendBinaryRequest(COMMAND_THAT_IS_NOT, new byte[0]), INVALID_COMMAND);
        client.streams().getStreams();
    }
}
