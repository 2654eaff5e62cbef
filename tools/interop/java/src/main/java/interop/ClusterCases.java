package interop;

import interop.Judge.Case;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.iggy.client.blocking.IggyBaseClient;
import org.apache.iggy.client.blocking.tcp.IggyTcpClient;
import org.apache.iggy.cluster.ClusterNode;
import org.apache.iggy.cluster.ClusterNodeRole;
import org.apache.iggy.config.RetryPolicy;
import org.apache.iggy.consumergroup.Consumer;
import org.apache.iggy.identifier.ConsumerId;
import org.apache.iggy.identifier.StreamId;
import org.apache.iggy.message.Partitioning;
import org.apache.iggy.message.PollingStrategy;

/** A cluster of three nodes whose leader is killed. */
final class ClusterCases {
    /** The others miss the leader after two seconds; this client may lose several more on a dead address. */
    private static final Duration GOES_ON_MAX = Duration.ofSeconds(30);

    private static final int BATCH = 5;
    private static final int BATCHES = 40;
    private static final ConsumerId READERS = ConsumerId.of("readers");

    static final List<Case> CASES = List.of(
            new Case("a client that knows one node that does not lead creates, writes and reads", ClusterCases::leadsOn),
            new Case(
                    "a producer goes on through the kill of a leader that is not the node it was given",
                    ClusterCases::producerGoesOn),
            new Case("a member of a group joins again after that, and gets everything", ClusterCases::memberGoesOn),
            new Case(
                    "a program that takes the next address of the roster goes on when the node dies that it was given",
                    ClusterCases::programGoesOn));

    private ClusterCases() {}

    /**
     * Sends numbered messages, batch after batch, and keeps where those that were acknowledged are. A batch that
     * ends in an error has an open outcome: it is not sent again, so nothing has to be there twice.
     */
    private static final class Writer {
        final Map<Integer, Integer> acknowledged = new TreeMap<>();
        private final Supplier<IggyBaseClient> client;
        private final StreamId stream;
        private int next = 0;

        Writer(StreamId stream, Supplier<IggyBaseClient> client) {
            this.stream = stream;
            this.client = client;
        }

        /** Until that many more batches are acknowledged; `onError` runs after each that is not. */
        void write(int count, Runnable onError) throws InterruptedException {
            int wanted = acknowledged.size() + count;
            String last = "";
            long giveUp = System.nanoTime() + GOES_ON_MAX.toNanos();
            while (acknowledged.size() < wanted) {
                Expect.that("writes go on: " + last, System.nanoTime() < giveUp);
                int first = next;
                next += BATCH;
                try {
                    acknowledged.put(first, send(first));
                } catch (RuntimeException error) {
                    last = Expect.reason(error);
                    Thread.sleep(100);
                    onError.run();
                }
            }
        }

        private int send(int first) {
            var answer = client.get()
                    .messages()
                    .sendMessages(
                            stream,
                            MessageCases.ONE,
                            Partitioning.partitionId(0L),
                            MessageCases.numbered(first, first + BATCH));
            return answer.confirmations().get(0).baseOffset().intValueExact();
        }

        /** Every acknowledged batch is at the offset that was confirmed, and nothing is there twice or moved. */
        void expectAll(IggyBaseClient reader) {
            List<Integer> seen = everything(reader, stream);
            Expect.equal("each once, in order", seen, seen.stream().distinct().sorted().toList());
            acknowledged.forEach((first, offset) -> {
                var wanted = IntStream.range(first, first + BATCH).boxed().toList();
                Expect.equal("batch at " + offset, seen.subList(offset, Math.min(offset + BATCH, seen.size())), wanted);
            });
        }

        /** The numbers of the acknowledged messages. */
        Set<Integer> numbers() {
            Set<Integer> numbers = new HashSet<>();
            acknowledged.keySet().forEach(first -> IntStream.range(first, first + BATCH).forEach(numbers::add));
            return numbers;
        }
    }

    /** The number in each message of partition 0; its index is its offset. */
    private static List<Integer> everything(IggyBaseClient client, StreamId stream) {
        List<Integer> seen = new ArrayList<>();
        Consumer reader = Consumer.of(ConsumerId.of("reader"));
        while (true) {
            var from = PollingStrategy.offset(BigInteger.valueOf(seen.size()));
            var polled = client.messages()
                    .pollMessages(stream, MessageCases.ONE, Optional.of(0L), reader, from, 1000L, false);
            if (polled.messages().isEmpty()) return seen;
            MessageCases.texts(polled.messages()).forEach(text -> seen.add(Integer.valueOf(text)));
        }
    }

    /** The addresses of the roster: that of the leader first. */
    private static List<String> roster(IggyBaseClient client) {
        LinkedList<String> addresses = new LinkedList<>();
        for (ClusterNode node : client.system().getClusterMetadata().nodes()) {
            String address = node.ip() + ":" + node.endpoints().tcp();
            if (node.role() == ClusterNodeRole.Leader) addresses.addFirst(address);
            else addresses.addLast(address);
        }
        Expect.equal("nodes", addresses.size(), 3);
        return addresses;
    }

    /** A client of that address, logged in as root; it comes back by itself, for that it was given the credentials. */
    private static IggyBaseClient clientOf(String address) {
        String[] parts = address.split(":");
        return IggyTcpClient.builder()
                .host(parts[0])
                .port(Integer.parseInt(parts[1]))
                .credentials("iggy", "iggy")
                .retryPolicy(RetryPolicy.fixedDelay(100, Duration.ofMillis(200)))
                .buildAndLogin();
    }

    private static void leadsOn(Clients clients) throws InterruptedException {
        StreamId stream = CatalogCases.streamWithTopic(clients, "known", 1);
        Writer writer = new Writer(stream, clients::root);
        writer.write(1, () -> {});
        writer.expectAll(clients.root());
        roster(clients.root());
    }

    private static void producerGoesOn(Clients clients) throws Exception {
        clients.forget();
        StreamId stream = CatalogCases.streamWithTopic(clients, "produced", 1);
        var client = clientOf(roster(clients.root()).get(1));
        Writer writer = new Writer(stream, () -> client);
        writer.write(BATCHES, () -> {});
        System.out.println("kill-leader");
        writer.write(BATCHES, () -> {});
        Judge.await("killed");
        writer.write(BATCHES, () -> {});
        Judge.order("start-killed", "running");
        writer.write(BATCHES, () -> {});
        writer.expectAll(client);
    }

    private static void memberGoesOn(Clients clients) throws Exception {
        clients.forget();
        StreamId stream = CatalogCases.streamWithTopic(clients, "consumed", 1);
        List<String> addresses = roster(clients.root());
        var client = clientOf(addresses.get(1));
        var reader = clientOf(addresses.get(2));
        client.consumerGroups().createConsumerGroup(stream, MessageCases.ONE, "readers");
        Writer writer = new Writer(stream, () -> client);
        Set<Integer> seen = new HashSet<>();
        writer.write(BATCHES, () -> {});
        readAll(reader, stream, seen, writer.numbers());
        Judge.order("kill-leader", "killed");
        writer.write(BATCHES, () -> {});
        readAll(reader, stream, seen, writer.numbers());
        Judge.order("start-killed", "running");
    }

    /** Polls for the group until all that is wanted was seen; whoever is no member, or not any more, joins. */
    private static void readAll(IggyBaseClient reader, StreamId stream, Set<Integer> seen, Set<Integer> wanted)
            throws InterruptedException {
        String last = "";
        long giveUp = System.nanoTime() + GOES_ON_MAX.plusSeconds(15).toNanos();
        while (!seen.containsAll(wanted)) {
            Expect.that("reading goes on: " + last, System.nanoTime() < giveUp);
            try {
                var group = Consumer.group(READERS);
                var polled = reader.messages()
                        .pollMessages(
                                stream, MessageCases.ONE, Optional.empty(), group, PollingStrategy.next(), 10L, true);
                MessageCases.texts(polled.messages()).forEach(text -> seen.add(Integer.valueOf(text)));
            } catch (RuntimeException error) {
                last = Expect.reason(error);
                Thread.sleep(100);
                join(reader, stream);
            }
        }
    }

    private static void join(IggyBaseClient reader, StreamId stream) {
        try {
            reader.consumerGroups().joinConsumerGroup(stream, MessageCases.ONE, READERS);
        } catch (RuntimeException error) {
            System.err.println("it joins later: " + Expect.reason(error));
        }
    }

    private static void programGoesOn(Clients clients) throws Exception {
        clients.forget();
        StreamId stream = CatalogCases.streamWithTopic(clients, "listed", 1);
        LinkedList<String> addresses = new LinkedList<>(roster(clients.root()));
        IggyBaseClient[] current = {clientOf(addresses.getFirst())};
        Writer writer = new Writer(stream, () -> current[0]);
        writer.write(BATCHES, () -> {});
        Judge.order("kill-leader", "killed");
        writer.write(BATCHES, () -> {
            addresses.addLast(addresses.removeFirst());
            try {
                current[0] = clientOf(addresses.getFirst());
            } catch (RuntimeException error) {
                System.err.println("the next address is tried: " + Expect.reason(error));
            }
        });
        Judge.order("start-killed", "running");
        writer.expectAll(current[0]);
    }
}
