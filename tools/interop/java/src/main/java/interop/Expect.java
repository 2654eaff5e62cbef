package interop;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.iggy.exception.IggyNotConnectedException;
import org.apache.iggy.exception.IggyServerException;

/** Ways for a case to fail. */
final class Expect {
    /** A call of the client. */
    interface Call {
        void make() throws Exception;
    }

    private Expect() {}

    /** Compares, and says both when they differ, cut to a readable length. */
    static void equal(String what, Object seen, Object wanted) {
        if (Objects.equals(seen, wanted)) return;
        throw new IllegalStateException("%s: %.300s, expected %.300s".formatted(what, seen, wanted));
    }

    static void that(String what, boolean holds) {
        equal(what, holds, true);
    }

    /** Expects the server to refuse the call with one of the codes. */
    static void refused(String what, Call call, Integer... codes) {
        List<Integer> wanted = Arrays.asList(codes);
        try {
            call.make();
        } catch (Exception error) {
            for (Throwable cause = error; cause != null; cause = cause.getCause()) {
                if (!(cause instanceof IggyServerException refusal)) continue;
                that(what + ": " + refusal.getMessage(), wanted.contains(refusal.getRawErrorCode()));
                return;
            }
            throw new IllegalStateException(what + ": " + reason(error) + ", expected a code of " + wanted);
        }
        throw new IllegalStateException(what + ": accepted, expected a code of " + wanted);
    }

    /** Expects a refusal for want of a login: the client's own, over TCP, or the server's code 40. */
    static void refusedWithoutLogin(Call call) {
        try {
            call.make();
        } catch (IggyNotConnectedException error) {
            return;
        } catch (Exception error) {
            refused("without a login", () -> { throw error; }, 40);
            return;
        }
        throw new IllegalStateException("without a login: accepted");
    }

    /** What went wrong and where in the cases. */
    static String reason(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null) cause = cause.getCause();
        String line = Arrays.stream(cause.getStackTrace())
                .filter(frame -> frame.getClassName().endsWith("Cases"))
                .findFirst()
                .map(frame -> " (%s:%d)".formatted(frame.getFileName(), frame.getLineNumber()))
                .orElse("");
        return cause.getClass().getSimpleName() + ": " + cause.getMessage() + line;
    }
}
