/** The kind byte of a typed field. 0 and numbers above 15 are never valid. */
export const FieldKind = {
  raw: 1,
  string: 2,
  bool: 3,
  int8: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  int128: 8,
  uint8: 9,
  uint16: 10,
  uint32: 11,
  uint64: 12,
  uint128: 13,
  float32: 14,
  float64: 15,
} as const;

/** A kind by its name: `raw`, `string`, `bool`, `int8` ... `float64`. */
export type FieldKindName = keyof typeof FieldKind;

const NAMES = new Map<number, FieldKindName>(
  (Object.keys(FieldKind) as FieldKindName[]).map((name) => [FieldKind[name], name]),
);

/** Bytes of a field of each kind; raw and string are not listed, for they have 1..255. */
export const FIELD_LENGTHS: Readonly<Partial<Record<FieldKindName, number>>> = {
  bool: 1,
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  int128: 16,
  uint8: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
  uint128: 16,
  float32: 4,
  float64: 8,
};

/** The name of a kind byte, or undefined when there is no such kind. */
export function fieldKindName(kind: number): FieldKindName | undefined {
  return NAMES.get(kind);
}
