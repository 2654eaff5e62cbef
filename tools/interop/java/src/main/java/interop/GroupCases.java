package interop;

import interop.Judge.Case;
import java.io.Closeable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.iggy.client.blocking.IggyBaseClient;
import org.apache.iggy.consumergroup.Consumer;
import org.apache.iggy.identifier.ConsumerId;
import org.apache.iggy.identifier.StreamId;
import org.apache.iggy.message.PollingStrategy;

/** Consumer groups: administration, two members, and what moves between them. */
final class GroupCases {
    private static final int PARTITIONS = 4;
    private static final int GROUP_TAKEN = 5004;
    private static final Integer[] NO_SUCH_GROUP = {5000, 5005};
    private static final int NOT_A_MEMBER = 5006;
    private static final ConsumerId READERS = ConsumerId.of("readers");

    static final List<Case> CASES = List.of(
            new Case("a group is created, joined, left and deleted", GroupCases::administration),
            new Case("a second member takes its share and what it leaves comes back", GroupCases::rebalance));

    private GroupCases() {}

    private static void administration(Clients clients) {
        var groups = clients.root().consumerGroups();
        var one = MessageCases.ONE;
        StreamId stream = CatalogCases.streamWithTopic(clients, "groups", 3);
        Expect.equal("partitions", groups.createConsumerGroup(stream, one, "readers").partitionsCount(), 3L);
        Expect.refused("twice", () -> groups.createConsumerGroup(stream, one, "readers"), GROUP_TAKEN);
        groups.joinConsumerGroup(stream, one, READERS);
        var members = groups.getConsumerGroup(stream, one, READERS).orElseThrow().members();
        Expect.equal("assigned", members.get(0).partitions(), List.of(0L, 1L, 2L));
        var synced = groups.syncConsumerGroup(stream, one, READERS).orElseThrow();
        Expect.equal("synced", synced.partitions(), List.of(0L, 1L, 2L));
        groups.leaveConsumerGroup(stream, one, READERS);
        Expect.refused("left twice", () -> groups.leaveConsumerGroup(stream, one, READERS), NOT_A_MEMBER);
        Expect.equal("listed", groups.getConsumerGroups(stream, one).size(), 1);
        groups.deleteConsumerGroup(stream, one, READERS);
        Expect.refused("gone", () -> groups.deleteConsumerGroup(stream, one, READERS), NO_SUCH_GROUP);
        clients.root().streams().deleteStream(stream);
    }

    /** A member of the group and the `partition:payload` of what it has read. */
    private record Member(IggyBaseClient client, StreamId stream, Set<String> seen) {
        static Member join(IggyBaseClient client, StreamId stream) {
            client.consumerGroups().joinConsumerGroup(stream, MessageCases.ONE, READERS);
            return new Member(client, stream, new HashSet<>());
        }

        void poll() {
            var group = Consumer.group(READERS);
            var polled = client.messages()
                    .pollMessages(stream, MessageCases.ONE, Optional.empty(), group, PollingStrategy.next(), 10L, true);
            MessageCases.texts(polled.messages()).forEach(text -> seen.add(polled.partitionId() + ":" + text));
        }
    }

    private static void sendEverywhere(Clients clients, StreamId stream, int from, int to) {
        for (long partition = 0; partition < PARTITIONS; partition++)
            MessageCases.send(clients, stream, partition, MessageCases.numbered(from, to));
    }

    /** Lets the members poll in turn until they have seen the numbers below `end` of all partitions. */
    private static void readAll(int end, Member... members) {
        Set<String> missing = new HashSet<>();
        for (int partition = 0; partition < PARTITIONS; partition++)
            for (int number = 0; number < end; number++) missing.add(partition + ":" + number);
        long giveUp = System.nanoTime() + 40_000_000_000L;
        while (!missing.isEmpty() && System.nanoTime() < giveUp) {
            for (Member member : members) {
                member.poll();
                missing.removeAll(member.seen());
            }
        }
        Expect.equal("not read", missing, Set.of());
    }

    private static List<Long> shares(Clients clients, StreamId stream) {
        var group = clients.root().consumerGroups().getConsumerGroup(stream, MessageCases.ONE, READERS);
        var counts = new ArrayList<Long>();
        group.orElseThrow().members().forEach(member -> counts.add(member.partitionsCount()));
        return counts.stream().sorted().toList();
    }

    private static void rebalance(Clients clients) {
        StreamId stream = CatalogCases.streamWithTopic(clients, "rebalance", PARTITIONS);
        clients.root().consumerGroups().createConsumerGroup(stream, MessageCases.ONE, "readers");
        Member first = Member.join(clients.another(), stream);
        sendEverywhere(clients, stream, 0, 20);
        readAll(20, first);
        Member second = Member.join(clients.another(), stream);
        sendEverywhere(clients, stream, 20, 40);
        var both = new HashSet<>(first.seen());
        Member together = new Member(first.client(), stream, both);
        readAll(40, together, second);
        Expect.equal("shares", shares(clients, stream), List.of(2L, 2L));
        var partitions = second.seen().stream().map(text -> text.split(":")[0]).distinct().count();
        Expect.equal("partitions of the second", partitions, 2L);
        Clients.close((Closeable) second.client());
        sendEverywhere(clients, stream, 40, 60);
        both.addAll(second.seen());
        readAll(60, together);
        Expect.equal("shares", shares(clients, stream), List.of((long) PARTITIONS));
        var numbers = IntStream.range(0, PARTITIONS).boxed().toList();
        var left = first.client().consumerGroups().syncConsumerGroup(stream, MessageCases.ONE, READERS);
        Expect.equal("assignment", left.orElseThrow().partitions(), numbers.stream().map(Long::valueOf).toList());
        clients.root().streams().deleteStream(stream);
    }
}
