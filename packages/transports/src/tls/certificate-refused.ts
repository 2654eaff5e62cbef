import { CodedError, ErrorCode } from "@millrace/errors";
import { systemCode } from "../connection-lost.ts";

/** Codes that OpenSSL and Node give when a certificate is not to be trusted. */
const REFUSALS = /CERT|ISSUER|LEAF_SIGNATURE/;

/**
 * The error of a connection attempt that failed because the server's certificate is not to be trusted or is
 * not for that name; undefined for any other failure. Trying again does not help, so it has a code of its
 * own.
 */
export function certificateRefused(
  error: Error,
  { host, port }: { readonly host: string; readonly port: number },
): CodedError | undefined {
  const reason = systemCode(error);
  if (!REFUSALS.test(reason)) return undefined;
  const text = `The certificate of ${host}:${port} was refused (${reason}): name its authority, or the host it is for.`;
  const details = { host, port, reason };
  return new CodedError(ErrorCode.InvalidTlsCertificate, text, { details, cause: error });
}
