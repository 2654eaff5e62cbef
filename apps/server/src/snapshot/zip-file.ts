import { promisify } from "node:util";
import zlib from "node:zlib";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { GetSnapshot } from "@millrace/protocol";
import type { ZipInputFile } from "fflate";

/** Compressions a snapshot may ask for. */
export type ZipCompression = GetSnapshot["compression"];

/** One file of a ZIP file. */
export interface ZipEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
}

type Compress = (bytes: Uint8Array) => Promise<Uint8Array>;

/** A way to compress: the number of the format's specification, section 4.4.5, and who does it. */
interface Method {
  readonly number: number;
  readonly compress: Compress;
}

/** Node 20 has no zstd. */
const zstd: Compress | undefined =
  "zstdCompress" in zlib ? (promisify(zlib.zstdCompress as typeof zlib.deflateRaw) as Compress) : undefined;

/** Compression runs in the thread pool. What is not here is not built. */
const METHODS: Readonly<Partial<Record<ZipCompression, Method | undefined>>> = {
  stored: { number: 0, compress: async (bytes) => bytes },
  deflated: { number: 8, compress: promisify(zlib.deflateRaw) as Compress },
  zstd: zstd && { number: 93, compress: zstd },
};

/**
 * A ZIP file with these entries, one after another.
 *
 * @throws CodedError FeatureUnavailable for a compression that is not built: bzip2, lzma, xz, and zstd where
 *          Node does not have it
 */
export async function zipFile(
  entries: readonly ZipEntry[],
  compression: ZipCompression,
): Promise<Uint8Array> {
  const { number, compress } = methodOf(compression);
  const { Zip } = await import("fflate");
  const written: Uint8Array[] = [];
  let failure: Error | undefined;
  const zip = new Zip((error, chunk) => {
    failure ??= error ?? undefined;
    written.push(chunk);
  });
  for (const { name, bytes } of entries) {
    const compressed = await compress(bytes);
    const file: ZipInputFile = {
      filename: name,
      size: bytes.length,
      crc: zlib.crc32(bytes),
      compression: number,
    };
    zip.add(file);
    file.ondata?.(null, compressed as Uint8Array<ArrayBuffer>, true);
  }
  zip.end();
  if (failure !== undefined) throw failure;
  return Buffer.concat(written);
}

/** Refuses a compression that is not built; for whoever would collect for nothing. */
export function methodOf(compression: ZipCompression): Method {
  const method = METHODS[compression];
  if (method !== undefined) return method;
  const built = Object.entries(METHODS).flatMap(([name, one]) => (one === undefined ? [] : [name]));
  throw new CodedError(
    ErrorCode.FeatureUnavailable,
    `Snapshots are not compressed with ${compression} here; these are: ${built.join(", ")}.`,
  );
}
