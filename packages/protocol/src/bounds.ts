/**
 * The bounds of specification sections 9.4 and 13, in one place.
 *
 * Lengths are bytes of UTF-8 or raw bytes. "Client" bounds are checked before sending and by no server;
 * they are what keeps every message of one client readable by all others.
 */

/**
 * Names of streams, topics, groups and names inside identifiers: the length travels as one byte, 0 is
 * refused.
 */
export const NAME_LENGTH_MIN = 1;
export const NAME_LENGTH_MAX = 255;

/** User names, checked at login and at creation (code 43). */
export const USERNAME_LENGTH_MIN = 3;
export const USERNAME_LENGTH_MAX = 50;

/** Passwords, checked at login and at the edges (code 44). */
export const PASSWORD_LENGTH_MIN = 3;
export const PASSWORD_LENGTH_MAX = 100;

/**
 * Context of a login: ours, so that nobody who is not logged in yet can make the server keep a whole frame as
 * text.
 */
export const LOGIN_CONTEXT_LENGTH_MAX = 65_536;

/** Names of personal access tokens (code 50). */
export const TOKEN_NAME_LENGTH_MIN = 3;
export const TOKEN_NAME_LENGTH_MAX = 30;

/**
 * Text of a personal access token: base64 of 50 random bytes is 68 characters, with room for other issuers.
 */
export const TOKEN_LENGTH_MAX = 100;

/** Personal access tokens one user may hold (code 52). */
export const TOKENS_PER_USER_MAX = 100;

/** Partitions in one create-topic, create-partitions or delete-partitions (code 2015). */
export const PARTITIONS_PER_REQUEST_MAX = 1000;

/** Streams of a server (code 1020): 2^20, the 20 bits a stream id has in a partition's address. */
export const STREAMS_MAX = 1_048_576;

/** Topics of one stream (code 2021): 2^12, the 12 bits a topic id has in a partition's address. */
export const TOPICS_PER_STREAM_MAX = 4096;

/** Partitions of one topic (code 2019): below 2^20, the 20 bits a partition id has in its address. */
export const PARTITIONS_PER_TOPIC_MAX = 1_000_000;

/**
 * Consumer groups of one topic (ours, code 20021): as many as a partition keeps offsets of groups by default.
 * Their members need no bound of their own: each is a session.
 */
export const GROUPS_PER_TOPIC_MAX = 4096;

/**
 * Consumer groups one client is a member of (ours, code 20021). With it 8192 sessions hold at most eight
 * million memberships of some hundred bytes.
 */
export const GROUPS_PER_CLIENT_MAX = 1024;

/**
 * Users of a server (ours, code 20022): as many as sessions at their most. A list of all of them, some 70
 * bytes each, is far from the longest reply.
 */
export const USERS_MAX = 65_536;

/**
 * Client: payload of one message (codes 4024 below, 4022 above); with its headers it stays below one frame of
 * 64 MiB.
 */
export const PAYLOAD_LENGTH_MIN = 1;
export const PAYLOAD_LENGTH_MAX = 64_000_000;

/** Client: user headers of one message, all fields together (code 4017). */
export const USER_HEADERS_LENGTH_MAX = 100_000;

/**
 * Client: micros between the first and the last origin timestamp of a batch, whose deltas are u32 (code
 * 4038).
 */
export const ORIGIN_TIMESTAMP_SPREAD_MAX = 4_294_967_295;

/** Client: key of a message (code 4028); its length travels as one byte. */
export const MESSAGE_KEY_LENGTH_MIN = 1;
export const MESSAGE_KEY_LENGTH_MAX = 255;

/** Options of one request: pairs, and bytes of the whole block (code 4043). */
export const OPTIONS_COUNT_MAX = 1024;
export const OPTIONS_LENGTH_MAX = 100_000;

/**
 * Stored offsets per partition and kind of consumer (code 3024): the default, and what it may be raised to.
 */
export const CONSUMER_OFFSETS_DEFAULT = 4096;
export const CONSUMER_OFFSETS_MAX = 262_144;

/** Sessions a cluster remembers, unless told otherwise. */
export const SESSIONS_DEFAULT = 8192;
/** What the sessions a cluster remembers may be raised to. */
export const SESSIONS_MAX = 65_536;
