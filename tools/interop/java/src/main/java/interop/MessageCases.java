package interop;

import interop.Judge.Case;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.iggy.client.blocking.IggyBaseClient;
import org.apache.iggy.consumergroup.Consumer;
import org.apache.iggy.identifier.ConsumerId;
import org.apache.iggy.identifier.StreamId;
import org.apache.iggy.identifier.TopicId;
import org.apache.iggy.message.HeaderKey;
import org.apache.iggy.message.HeaderValue;
import org.apache.iggy.message.Message;
import org.apache.iggy.message.Partitioning;
import org.apache.iggy.message.PollingStrategy;

/** Sending, polling and the offsets of single consumers. */
final class MessageCases {
    private static final Integer[] NOT_FOUND = {20, 1009, 1010, 2010, 2011, 3007};
    static final TopicId ONE = TopicId.of("one");
    private static final Consumer READER = Consumer.of(ConsumerId.of("reader"));

    static final List<Case> CASES = List.of(
            new Case("payloads and headers come back as sent", MessageCases::roundTrip),
            new Case("polls begin at an offset, the first, the last and the next message", MessageCases::strategies),
            new Case("balanced sends go round and keys stay in one partition", MessageCases::partitionings),
            new Case("offsets are stored and read", MessageCases::offsets),
            new Case("a large message and a batch of 5,000 go through whole", MessageCases::large),
            new Case("sending to what is missing is refused", MessageCases::refusals));

    private MessageCases() {}

    /** Messages whose payloads are the numbers from..to, end exclusive. */
    static List<Message> numbered(int from, int to) {
        return IntStream.range(from, to).mapToObj(number -> Message.of(String.valueOf(number))).toList();
    }

    /** The same numbers as text. */
    static List<String> texts(int from, int to) {
        return IntStream.range(from, to).mapToObj(String::valueOf).toList();
    }

    /** The payloads as text. */
    static List<String> texts(List<Message> messages) {
        return messages.stream().map(one -> new String(one.payload())).toList();
    }

    static void send(Clients clients, StreamId stream, long partition, List<Message> messages) {
        clients.root().messages().sendMessages(stream, ONE, Partitioning.partitionId(partition), messages);
    }

    static List<Message> poll(Clients clients, StreamId stream, PollingStrategy from, long count, boolean commit) {
        return clients.root()
                .messages()
                .pollMessages(stream, ONE, Optional.of(0L), READER, from, count, commit)
                .messages();
    }

    private static void roundTrip(Clients clients) {
        StreamId stream = CatalogCases.streamWithTopic(clients, "round-trip", 1);
        Map<HeaderKey, HeaderValue> headers = Map.of(
                HeaderKey.fromString("text"), HeaderValue.fromString("a value"),
                HeaderKey.fromString("yes"), HeaderValue.fromBool(true),
                HeaderKey.fromString("signed"), HeaderValue.fromInt64(Long.MIN_VALUE),
                HeaderKey.fromString("small"), HeaderValue.fromUint16(60_000),
                HeaderKey.fromString("half"), HeaderValue.fromFloat64(0.5),
                HeaderKey.fromString("raw"), HeaderValue.fromRaw(new byte[] {0, -1}));
        send(clients, stream, 0, List.of(Message.of("with headers", headers)));
        Message seen = poll(clients, stream, PollingStrategy.first(), 1, false).get(0);
        Expect.equal("payload", new String(seen.payload()), "with headers");
        Expect.equal("headers", seen.userHeaders(), headers);
        Expect.that("timestamp", seen.header().timestamp().signum() > 0);
        clients.root().streams().deleteStream(stream);
    }

    private static void strategies(Clients clients) {
        StreamId stream = CatalogCases.streamWithTopic(clients, "strategies", 1);
        send(clients, stream, 0, numbered(0, 10));
        var first = poll(clients, stream, PollingStrategy.first(), 3, false);
        Expect.equal("first", texts(first), texts(0, 3));
        Expect.equal("last", texts(poll(clients, stream, PollingStrategy.last(), 3, false)), texts(7, 10));
        var four = PollingStrategy.offset(BigInteger.valueOf(4));
        Expect.equal("offset", texts(poll(clients, stream, four, 3, false)), texts(4, 7));
        var time = PollingStrategy.timestamp(first.get(0).header().timestamp());
        Expect.equal("time", texts(poll(clients, stream, time, 3, false)), texts(0, 3));
        for (var wanted : List.of(texts(0, 6), texts(6, 10), List.of()))
            Expect.equal("next", texts(poll(clients, stream, PollingStrategy.next(), 6, true)), wanted);
        clients.root().streams().deleteStream(stream);
    }

    private static List<Long> counts(IggyBaseClient client, StreamId stream) {
        var partitions = client.topics().getTopic(stream, ONE).orElseThrow().partitions();
        return partitions.stream().map(one -> one.messagesCount().longValue()).toList();
    }

    private static void partitionings(Clients clients) {
        var root = clients.root();
        StreamId balanced = CatalogCases.streamWithTopic(clients, "balanced", 3);
        for (int number = 0; number < 6; number++)
            root.messages().sendMessages(balanced, ONE, Partitioning.balanced(), numbered(number, number + 1));
        Expect.equal("balanced", counts(root, balanced), List.of(2L, 2L, 2L));
        StreamId keyed = CatalogCases.streamWithTopic(clients, "keyed", 3);
        for (int number = 0; number < 6; number++)
            root.messages().sendMessages(keyed, ONE, Partitioning.messagesKey("a-key"), numbered(number, number + 1));
        Expect.equal("by key", counts(root, keyed).stream().sorted().toList(), List.of(0L, 0L, 6L));
        root.streams().deleteStream(balanced);
        root.streams().deleteStream(keyed);
    }

    private static void offsets(Clients clients) {
        StreamId stream = CatalogCases.streamWithTopic(clients, "offsets", 1);
        var offsets = clients.root().consumerOffsets();
        send(clients, stream, 0, numbered(0, 10));
        Expect.equal("none", offsets.getConsumerOffset(stream, ONE, Optional.of(0L), READER), Optional.empty());
        offsets.storeConsumerOffset(stream, ONE, Optional.of(0L), READER, BigInteger.valueOf(4));
        var stored = offsets.getConsumerOffset(stream, ONE, Optional.of(0L), READER).orElseThrow();
        Expect.equal("stored", stored.storedOffset(), BigInteger.valueOf(4));
        Expect.equal("current", stored.currentOffset(), BigInteger.valueOf(9));
        Expect.equal("next", texts(poll(clients, stream, PollingStrategy.next(), 2, false)), texts(5, 7));
        clients.root().streams().deleteStream(stream);
    }

    private static void large(Clients clients) {
        StreamId stream = CatalogCases.streamWithTopic(clients, "large", 1);
        // The HTTP API takes bodies up to 2 MB, with payloads as Base64.
        String payload = "01234567".repeat(clients.hasConnections() ? 1 << 20 : 1 << 17);
        send(clients, stream, 0, List.of(Message.of(payload)));
        send(clients, stream, 0, numbered(1, 5001));
        var first = poll(clients, stream, PollingStrategy.first(), 1, false);
        Expect.that("large", new String(first.get(0).payload()).equals(payload));
        var rest = new ArrayList<>(poll(clients, stream, PollingStrategy.offset(BigInteger.ONE), 5000, false));
        Expect.equal("batch", texts(rest), texts(1, 5001));
        clients.root().streams().deleteStream(stream);
    }

    private static void refusals(Clients clients) {
        StreamId stream = CatalogCases.streamWithTopic(clients, "refusing", 1);
        var messages = clients.root().messages();
        var nine = Partitioning.partitionId(9L);
        Expect.refused("partition", () -> messages.sendMessages(stream, ONE, nine, numbered(0, 1)), NOT_FOUND);
        var absent = TopicId.of("absent");
        var zero = Partitioning.partitionId(0L);
        Expect.refused("topic", () -> messages.sendMessages(stream, absent, zero, numbered(0, 1)), NOT_FOUND);
        send(clients, stream, 0, numbered(0, 1));
        clients.root().streams().deleteStream(stream);
    }
}
