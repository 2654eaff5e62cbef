package interop;

import interop.Judge.Case;
import java.math.BigInteger;
import java.util.List;
import java.util.Optional;
import org.apache.iggy.consumergroup.Consumer;
import org.apache.iggy.identifier.ConsumerId;
import org.apache.iggy.identifier.StreamId;
import org.apache.iggy.message.PollingStrategy;

/** What is there after the server was killed and started again. */
final class RestartCases {
    static final List<Case> CASES = List.of(
            new Case("everything is there after a kill and a restart", RestartCases::restart),
            new Case("a client made before the restart goes on after it", RestartCases::comeBack));

    private RestartCases() {}

    private static void restart(Clients clients) throws Exception {
        StreamId stream = CatalogCases.streamWithTopic(clients, "durable", 1);
        var reader = Consumer.of(ConsumerId.of("reader"));
        MessageCases.send(clients, stream, 0, MessageCases.numbered(0, 1000));
        clients.root()
                .consumerOffsets()
                .storeConsumerOffset(stream, MessageCases.ONE, Optional.of(0L), reader, BigInteger.valueOf(499));
        Judge.restartServer();
        clients.forget();
        var seen = MessageCases.poll(clients, stream, PollingStrategy.first(), 1000, false);
        Expect.equal("messages", MessageCases.texts(seen), MessageCases.texts(0, 1000));
        var next = MessageCases.poll(clients, stream, PollingStrategy.next(), 1, false);
        Expect.equal("next", MessageCases.texts(next), MessageCases.texts(500, 501));
        clients.root().streams().deleteStream(stream);
    }

    private static void comeBack(Clients clients) throws Exception {
        var client = clients.another();
        client.streams().getStreams();
        Judge.restartServer();
        // A client with a connection logs in again by itself only with the credentials it was built with.
        for (long giveUp = System.nanoTime() + 30_000_000_000L; ; Thread.sleep(100)) {
            try {
                client.users().login("iggy", "iggy");
                break;
            } catch (RuntimeException error) {
                if (System.nanoTime() > giveUp) throw error;
            }
        }
        client.streams().getStreams();
    }
}
