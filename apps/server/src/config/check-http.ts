import { invalid } from "./invalid-setting.ts";
import type { Config } from "./schema.ts";

type Http = Config["http"];

/** Fewest bytes of a secret of one's own: shorter ones can be guessed from a single token. */
const SECRET_LENGTH_MIN = 32;

/**
 * Checks what no single value of `[http]` can show.
 *
 * @throws CodedError InvalidConfiguration
 */
export function checkHttp(http: Http): void {
  checkCors(http.cors);
  checkJwt(http.jwt);
  const { enabled, endpoint } = http.metrics;
  if (enabled && !/^\/[^\s:*?#]+$/.test(endpoint)) {
    throw invalid("http.metrics.endpoint", "is no path such as /metrics");
  }
}

/** Bytes of the shared secret of access tokens; undefined when none is configured. */
export function jwtSecret(jwt: Http["jwt"]): Uint8Array | undefined {
  const text = jwt.encoding_secret || jwt.decoding_secret;
  if (text === "") return undefined;
  return jwt.use_base64_secret ? Buffer.from(text, "base64") : new TextEncoder().encode(text);
}

function checkCors(cors: Http["cors"]): void {
  if (!cors.enabled) return;
  if (cors.allowed_origins.includes("*") && cors.allowed_origins.length > 1) {
    throw invalid("http.cors.allowed_origins", "names origins beside *, which stands for all");
  }
  const lists = ["allowed_origins", "allowed_headers", "allowed_methods", "exposed_headers"] as const;
  const wild = lists.find((key) => cors[key].includes("*"));
  if (cors.allow_credentials && wild !== undefined) {
    throw invalid(`http.cors.${wild}`, "is * although http.cors.allow_credentials is true; list them");
  }
}

function checkJwt(jwt: Http["jwt"]): void {
  const { encoding_secret: encoding, decoding_secret: decoding } = jwt;
  if (encoding !== "" && decoding !== "" && encoding !== decoding) {
    throw invalid(
      "http.jwt.decoding_secret",
      "differs from encoding_secret; tokens are signed with one secret",
    );
  }
  const secret = jwtSecret(jwt);
  if (secret !== undefined && secret.length < SECRET_LENGTH_MIN) {
    throw invalid("http.jwt.encoding_secret", `is shorter than ${SECRET_LENGTH_MIN} bytes`);
  }
  if (!jwt.valid_issuers.includes(jwt.issuer)) {
    throw invalid(
      "http.jwt.valid_issuers",
      "lacks http.jwt.issuer, so no token of our own would be accepted",
    );
  }
  if (!jwt.valid_audiences.includes(jwt.audience)) {
    throw invalid(
      "http.jwt.valid_audiences",
      "lacks http.jwt.audience, so no token of our own would be accepted",
    );
  }
  const rootIssuer = jwt.trusted_issuers.findIndex((issuer) => issuer.user_id === 0);
  if (rootIssuer >= 0) {
    throw invalid(`http.jwt.trusted_issuers[${rootIssuer}].user_id`, "is 0, root; name another user");
  }
}
