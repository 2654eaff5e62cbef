// Places in the batch header (256 bytes) and in a frame's header (48), as `src/batch-header.ts` and
// `src/frame-header.ts` have them.
export const BATCH_HEADER_LENGTH: usize = 256;
export const BATCH_LENGTH: usize = 32;
export const BATCH_CHECKSUM: usize = 40;
export const MESSAGE_COUNT: usize = 48;
export const BATCH_RESERVED: usize = 52;

export const FRAME_HEADER_LENGTH: usize = 48;
/** The frame checksum covers everything from here on. */
export const FRAME_ID: usize = 8;
export const OFFSET_DELTA: usize = 24;
export const USER_HEADERS_LENGTH: usize = 32;
export const PAYLOAD_LENGTH: usize = 36;
export const FRAME_RESERVED: usize = 40;

/** Largest u64 the host can hold in a number. */
export const SAFE_MAX: u64 = 0x1fffffffffffff;

/** What a bad batch is refused with. */
export const MALFORMED: i32 = 3;
export const BAD_FRAME_CHECKSUM: i32 = 4027;
export const BAD_BATCH_CHECKSUM: i32 = 4039;
