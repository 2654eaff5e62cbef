import { LosslessNumber, parse } from "lossless-json";

/**
 * A number of so many digits may not survive `JSON.parse`: 16 digits reach beyond 2^53, or round to a whole
 * number (999999999999999.99). Shorter ones are exact or, written with an exponent, recognised afterwards as
 * beyond 2^53.
 */
const LONG_DIGITS = /[0-9.]{16}/;

/** Digits of a whole number; longer ones than any field can hold stay unread, see `parseNumber`. */
const WHOLE = /^-?[0-9]{1,40}$/;

/**
 * The value of a JSON text. Whole numbers beyond 2^53 come out as bigint; a number that is neither exact as a
 * double nor a whole one of at most 40 digits comes out as `LosslessNumber`, which no field reader accepts.
 *
 * A text without long runs of digits takes the engine's own parser, which is many times faster.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return LONG_DIGITS.test(text) ? parse(text, undefined, parseNumber) : JSON.parse(text);
}

function parseNumber(digits: string): number | bigint | LosslessNumber {
  const number = Number(digits);
  if (Number.isSafeInteger(number) && String(number) === digits) return number;
  return WHOLE.test(digits) ? BigInt(digits) : new LosslessNumber(digits);
}
