/** Numbers that loggers and databases write for a value that is missing. */
const CODES = new Set([-999, -9999, -99999, -999999, -999.9, -9999.9, -6999, -7999, 9999, 99999, 999999, 9.96921e36]);
/** Such a code lies far outside of the other values. */
const CODE_SHARE = 0.2;

/** The code for missing values of a column; null = it has none. */
export function missingCode(values: readonly (number | undefined)[]): number | null {
  const isCode = (value: number) => CODES.has(value) || CODES.has(Math.fround(value));
  for (const code of new Set(values.filter((value) => value !== undefined && isCode(value)))) {
    const others = values.filter((value) => value !== undefined && value !== code);
    if (
      code !== undefined &&
      others.length > 0 &&
      others.every((value) => Math.abs(value ?? 0) < CODE_SHARE * Math.abs(code))
    ) {
      return code;
    }
  }
  return null;
}
