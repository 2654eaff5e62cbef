import { CodedError, ErrorCode } from "@millrace/errors";

/** The refusal to start on metadata that is not whole: names the file and the position, deletes nothing. */
export function metadataDamaged(
  what: string,
  place: { readonly path: string; readonly position: number },
): CodedError {
  const { path, position } = place;
  const text = `The metadata is damaged: ${what} (file ${path}, position ${position}). Nothing was changed.`;
  return new CodedError(ErrorCode.MetadataDamaged, text, { details: { path, position } });
}

/** The refusal of a file that a later version wrote. */
export function metadataTooNew(path: string): CodedError {
  return new CodedError(
    ErrorCode.FormatTooNew,
    `The file ${path} was written by a later version of Millrace.`,
    {
      details: { path },
    },
  );
}
