package interop;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import org.apache.iggy.client.blocking.IggyBaseClient;
import org.apache.iggy.client.blocking.http.IggyHttpClient;
import org.apache.iggy.client.blocking.tcp.IggyTcpClient;

/** Makes clients that take one transport to the server under test; closes them together. */
abstract class Clients {
    private final List<Closeable> open = new ArrayList<>();
    private final String address;
    private IggyBaseClient shared;

    private Clients(String address) {
        this.address = address;
    }

    /** TCP and HTTP, both encrypted when the judge is to trust an authority. */
    static List<Clients> ofAllTransports(String address) throws IOException, GeneralSecurityException {
        String authority = System.getenv("JUDGE_CA_FILE");
        // Over TCP the client reads a PEM file itself; over HTTP it trusts what the JVM trusts.
        if (authority != null) Authority.trustInThisProcess(Path.of(authority));
        String httpAddress = System.getenv("INTEROP_HTTP_ADDRESS");
        return List.of(new OverTcp(address, authority), new OverHttp(httpAddress, authority != null));
    }

    /** The transport, as it begins the titles of cases and the names of what they create. */
    abstract String transport();

    /** Whether a client is a connection, with a login and group memberships of its own. */
    abstract boolean hasConnections();

    abstract IggyBaseClient connect(String host, int port);

    /** A client that is not logged in. */
    final IggyBaseClient stranger() {
        String[] parts = address.split(":");
        IggyBaseClient client = connect(parts[0], Integer.parseInt(parts[1]));
        open.add((Closeable) client);
        return client;
    }

    /** A client of its own, logged in as root. */
    final IggyBaseClient another() {
        IggyBaseClient client = stranger();
        client.users().login("iggy", "iggy");
        return client;
    }

    /** The client that the cases of this transport share, logged in as root. */
    final IggyBaseClient root() {
        if (shared == null) shared = another();
        return shared;
    }

    /** Shares a new client from now on. */
    final void forget() {
        shared = null;
    }

    /** A name that no other transport's cases use. */
    final String named(String name) {
        return transport() + "-" + name;
    }

    final void close() {
        for (Closeable client : open) close(client);
    }

    static void close(Closeable client) {
        try {
            client.close();
        } catch (IOException | RuntimeException error) {
            System.err.println("a client did not close: " + error.getMessage());
        }
    }

    private static final class OverTcp extends Clients {
        private final String authority;

        OverTcp(String address, String authority) {
            super(address);
            this.authority = authority;
        }

        @Override
        String transport() {
            return "tcp";
        }

        @Override
        boolean hasConnections() {
            return true;
        }

        @Override
        IggyBaseClient connect(String host, int port) {
            var builder = IggyTcpClient.builder().host(host).port(port);
            if (authority != null) builder.enableTls().tlsCertificate(authority);
            IggyTcpClient client = builder.build();
            client.connect();
            return client;
        }
    }

    private static final class OverHttp extends Clients {
        private final boolean encrypted;

        OverHttp(String address, boolean encrypted) {
            super(address);
            this.encrypted = encrypted;
        }

        @Override
        String transport() {
            return "http";
        }

        @Override
        boolean hasConnections() {
            return false;
        }

        @Override
        IggyBaseClient connect(String host, int port) {
            return IggyHttpClient.builder().host(host).port(port).tls(encrypted).build();
        }
    }
}
