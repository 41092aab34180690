/** One part of `npm run accuracy`: rows of one method on one cloud each, printed as tables. */
export interface Part<Row> {
  readonly methods: readonly string[];
  readonly groups: readonly string[];
  /** All rows of some methods over some groups of clouds. */
  measure(methods: readonly string[], groups: readonly string[]): Promise<readonly Row[]>;
  /** Tables in markdown. */
  tables(rows: readonly Row[]): string;
  /** Which targets are reached, a line each. */
  targets(rows: readonly Row[]): string;
}
