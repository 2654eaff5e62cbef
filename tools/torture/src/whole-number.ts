/** The whole number 0..`max` that an option names. Throws Error, with the option's name, for another text. */
export function wholeNumber(name: string, text: string, max: number): number {
  const value = Number(text);
  if (text === "" || !Number.isInteger(value) || value < 0 || value > max) {
    throw new Error(`--${name} is no number of 0..${max}`);
  }
  return value;
}
