package interop;

import interop.Judge.Case;
import java.math.BigInteger;
import java.util.List;
import java.util.Optional;
import org.apache.iggy.identifier.StreamId;
import org.apache.iggy.identifier.TopicId;
import org.apache.iggy.topic.CompressionAlgorithm;

/** Streams, topics and partitions. */
final class CatalogCases {
    private static final int STREAM_TAKEN = 1012;
    private static final int TOPIC_TAKEN = 2013;
    private static final Integer[] NOT_FOUND = {20, 1009, 1010, 2010, 2011};
    private static final BigInteger NEVER = BigInteger.TWO.pow(64).subtract(BigInteger.ONE);
    private static final BigInteger HOUR_MICROS = BigInteger.valueOf(3_600_000_000L);
    private static final BigInteger TWO_GIB = BigInteger.TWO.pow(31);

    static final List<Case> CASES = List.of(
            new Case("a stream is created, listed, renamed and deleted", CatalogCases::stream),
            new Case("a topic keeps what it was made with and what is changed", CatalogCases::topic),
            new Case("names that are taken and things that are missing are refused", CatalogCases::refusals),
            new Case("partitions are added and removed", CatalogCases::partitions));

    private CatalogCases() {}

    /** Makes a stream with one topic {@code one}; the name of the stream. */
    static StreamId streamWithTopic(Clients clients, String name, long partitions) {
        String stream = clients.named(name);
        clients.root().streams().createStream(stream);
        clients.root()
                .topics()
                .createTopic(
                        StreamId.of(stream), partitions, CompressionAlgorithm.None, BigInteger.ZERO, BigInteger.ZERO, "one");
        return StreamId.of(stream);
    }

    private static void stream(Clients clients) {
        var streams = clients.root().streams();
        String name = clients.named("plain");
        String renamed = clients.named("renamed");
        var made = streams.createStream(name);
        Expect.equal("name", made.name(), name);
        Expect.that("listed", streams.getStreams().stream().anyMatch(one -> one.name().equals(name)));
        streams.updateStream(StreamId.of(name), renamed);
        Expect.equal("old name", streams.getStream(StreamId.of(name)), Optional.empty());
        Expect.equal("new name", streams.getStream(made.id()).orElseThrow().name(), renamed);
        streams.deleteStream(StreamId.of(renamed));
        Expect.equal("gone", streams.getStream(StreamId.of(renamed)), Optional.empty());
    }

    private static void topic(Clients clients) {
        StreamId stream = StreamId.of(clients.named("topics"));
        clients.root().streams().createStream(clients.named("topics"));
        var topics = clients.root().topics();
        var made = topics.createTopic(stream, 3L, CompressionAlgorithm.None, HOUR_MICROS, TWO_GIB, "one");
        Expect.equal("partitions", made.partitionsCount(), 3L);
        Expect.equal("compression", made.compressionAlgorithm(), CompressionAlgorithm.None);
        Expect.equal("expiry", made.messageExpiry(), HOUR_MICROS);
        Expect.equal("size", made.maxTopicSize(), TWO_GIB);
        topics.updateTopic(stream, TopicId.of("one"), CompressionAlgorithm.Gzip, NEVER, NEVER, "two");
        var found = topics.getTopic(stream, TopicId.of("two")).orElseThrow();
        Expect.equal("compression", found.compressionAlgorithm(), CompressionAlgorithm.Gzip);
        Expect.equal("expiry", found.messageExpiry(), NEVER);
        Expect.equal("topics", topics.getTopics(stream).size(), 1);
        topics.deleteTopic(stream, TopicId.of("two"));
        Expect.equal("absent", topics.getTopic(stream, TopicId.of("two")), Optional.empty());
        clients.root().streams().deleteStream(stream);
    }

    private static void refusals(Clients clients) {
        var root = clients.root();
        StreamId stream = streamWithTopic(clients, "taken", 1);
        StreamId absent = StreamId.of("absent");
        Expect.refused("stream twice", () -> root.streams().createStream(clients.named("taken")), STREAM_TAKEN);
        Expect.refused("topic twice", () -> create(clients, stream), TOPIC_TAKEN);
        Expect.refused("absent stream", () -> root.streams().deleteStream(absent), NOT_FOUND);
        Expect.refused("absent topic", () -> root.topics().deleteTopic(stream, TopicId.of("absent")), NOT_FOUND);
        Expect.refused("topic of an absent stream", () -> create(clients, absent), NOT_FOUND);
        root.streams().deleteStream(stream);
    }

    private static void create(Clients clients, StreamId stream) {
        clients.root().topics().createTopic(stream, 1L, CompressionAlgorithm.None, BigInteger.ZERO, BigInteger.ZERO, "one");
    }

    private static void partitions(Clients clients) {
        var root = clients.root();
        StreamId stream = streamWithTopic(clients, "partitions", 1);
        TopicId one = TopicId.of("one");
        root.partitions().createPartitions(stream, one, 2L);
        var ids = root.topics().getTopic(stream, one).orElseThrow().partitions().stream().map(part -> part.id());
        Expect.equal("ids", ids.toList(), List.of(0L, 1L, 2L));
        root.partitions().deletePartitions(stream, one, 2L);
        Expect.equal("count", root.topics().getTopic(stream, one).orElseThrow().partitionsCount(), 1L);
        root.streams().deleteStream(stream);
    }
}
