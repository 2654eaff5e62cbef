package interop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;

/** The authority that signed the certificate of the server under test. */
final class Authority {
    /** Without a password a key store of this kind does not give out its certificates. */
    private static final String PASSWORD = "not secret";

    private Authority() {}

    /**
     * Has every TLS connection of this process trust the authority alone that does not name its own. Call it before
     * the first one is made.
     *
     * @param file its certificate, PEM
     */
    static void trustInThisProcess(Path file) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        try (var pem = Files.newInputStream(file)) {
            trusted.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        // Beside the certificate, in the folder that goes when the run is over.
        Path store = file.resolveSibling("java-trust.p12");
        try (var out = Files.newOutputStream(store)) {
            trusted.store(out, PASSWORD.toCharArray());
        }
        System.setProperty("javax.net.ssl.trustStore", store.toString());
        System.setProperty("javax.net.ssl.trustStoreType", "PKCS12");
        System.setProperty("javax.net.ssl.trustStorePassword", PASSWORD);
    }
}
