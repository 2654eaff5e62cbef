package interop;

import interop.Judge.Case;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.iggy.client.blocking.IggyBaseClient;
import org.apache.iggy.identifier.StreamId;
import org.apache.iggy.identifier.UserId;
import org.apache.iggy.message.Partitioning;
import org.apache.iggy.user.GlobalPermissions;
import org.apache.iggy.user.Permissions;
import org.apache.iggy.user.StreamPermissions;
import org.apache.iggy.user.UserStatus;

/** Users, what they may do, and personal access tokens. */
final class UserCases {
    private static final int UNAUTHORIZED = 41;
    private static final int INVALID_CREDENTIALS = 42;
    private static final int TAKEN = 46;
    private static final int TOKEN_TAKEN = 51;
    private static final int INVALID_TOKEN = 53;
    private static final String PASSWORD = "a-password";

    static final List<Case> CASES = List.of(
            new Case("a user is created, listed, renamed, silenced and deleted", UserCases::users),
            new Case("permissions allow what they say, at once", UserCases::permissions),
            new Case("a password is changed", UserCases::password),
            new Case("a token logs in until it is deleted", UserCases::tokens));

    private UserCases() {}

    private static UserId user(Clients clients, String name) {
        String full = clients.named(name);
        clients.root().users().createUser(full, PASSWORD, UserStatus.Active, Optional.empty());
        return UserId.of(full);
    }

    private static void login(Clients clients, String name, String password) {
        clients.stranger().users().login(name, password);
    }

    private static void users(Clients clients) {
        var users = clients.root().users();
        UserId ann = user(clients, "ann");
        String renamed = clients.named("anna");
        Expect.refused("twice", () -> user(clients, "ann"), TAKEN);
        Expect.that("listed", users.getUsers().stream().anyMatch(one -> one.username().equals(ann.getName())));
        users.updateUser(ann, Optional.of(renamed), Optional.empty());
        Expect.equal("old name", users.getUser(ann), Optional.empty());
        Expect.equal("new name", users.getUser(UserId.of(renamed)).orElseThrow().username(), renamed);
        users.updateUser(UserId.of(renamed), Optional.empty(), Optional.of(UserStatus.Inactive));
        Expect.refused("inactive", () -> login(clients, renamed, PASSWORD), INVALID_CREDENTIALS);
        users.deleteUser(UserId.of(renamed));
        Expect.equal("gone", users.getUser(UserId.of(renamed)), Optional.empty());
    }

    private static void permissions(Clients clients) {
        var root = clients.root();
        StreamId stream = CatalogCases.streamWithTopic(clients, "permitted", 1);
        long number = root.streams().getStream(stream).orElseThrow().id();
        UserId bob = user(clients, "bob");
        IggyBaseClient client = clients.stranger();
        client.users().login(bob.getName(), PASSWORD);
        Expect.refused("streams", () -> client.streams().getStreams(), UNAUTHORIZED);
        var global = new GlobalPermissions(false, false, false, false, false, true, false, false, false, false);
        var maySend = new StreamPermissions(false, false, false, false, false, true, Map.of());
        root.users().updatePermissions(bob, Optional.of(new Permissions(global, Map.of(number, maySend))));
        client.streams().getStreams();
        var messages = MessageCases.numbered(0, 1);
        client.messages().sendMessages(stream, MessageCases.ONE, Partitioning.partitionId(0L), messages);
        Expect.refused("create", () -> client.streams().createStream("bobs"), UNAUTHORIZED);
        var shown = root.users().getUser(bob).orElseThrow().permissions().orElseThrow();
        Expect.equal("global", shown.global(), global);
        Expect.that("may send", shown.streams().get(number).sendMessages());
        root.users().updatePermissions(bob, Optional.empty());
        Expect.refused("streams", () -> client.streams().getStreams(), UNAUTHORIZED);
        root.users().deleteUser(bob);
        root.streams().deleteStream(stream);
    }

    private static void password(Clients clients) {
        var users = clients.root().users();
        UserId carol = user(clients, "carol");
        Expect.refused("wrong", () -> users.changePassword(carol, "not-it", "another-one"), INVALID_CREDENTIALS);
        users.changePassword(carol, PASSWORD, "another-one");
        Expect.refused("old", () -> login(clients, carol.getName(), PASSWORD), INVALID_CREDENTIALS);
        login(clients, carol.getName(), "another-one");
        users.deleteUser(carol);
    }

    private static void tokens(Clients clients) {
        var tokens = clients.root().personalAccessTokens();
        String name = clients.named("token");
        String token = tokens.createPersonalAccessToken(name, Duration.ofHours(1)).token();
        Expect.refused("twice", () -> tokens.createPersonalAccessToken(name, Duration.ofHours(1)), TOKEN_TAKEN);
        var listed = tokens.getPersonalAccessTokens().stream().filter(one -> one.name().equals(name)).toList();
        Expect.that("expires", listed.size() == 1 && listed.get(0).expiryAt().isPresent());
        IggyBaseClient bearer = clients.stranger();
        Expect.equal("user", bearer.personalAccessTokens().loginWithPersonalAccessToken(token).userId(), 0L);
        bearer.streams().getStreams();
        tokens.deletePersonalAccessToken(name);
        IggyBaseClient late = clients.stranger();
        Expect.refused(
                "deleted", () -> late.personalAccessTokens().loginWithPersonalAccessToken(token), INVALID_TOKEN);
    }
}
