/** A voxel space of AMAPVox, as its programs read it. */
export interface VoxelSpace {
  readonly min: readonly number[];
  readonly max: readonly number[];
  readonly split: readonly number[];
  readonly edges: readonly number[];
  /** Value of a column at voxel (i, j, k). */
  value(column: string, i: number, j: number, k: number): number;
}

/**
 * Reads a .vox file by the rules of the readers of AMAPVox, those of its Java program and of its R package together: the name
 * of the format; lines of "#key: value", several on a line; the column names, of which i, j and k come first; a row per
 * voxel, by i, then j, then k, with one space between values. Throws what either would refuse or misread.
 */
export function readVoxelSpace(text: string): VoxelSpace {
  const lines = text.split("\n");
  if (lines.pop() !== "") throw new Error("the last line does not end");
  if (lines[0] !== "VOXEL SPACE") throw new Error("no voxel space");
  const properties = new Map<string, string>();
  let at = 1;
  for (; lines[at]?.startsWith("#"); at += 1) {
    for (const parameter of (lines[at] ?? "").split("#").slice(1)) {
      const [key, value, more] = parameter.split(":");
      if (key === undefined || value === undefined || more !== undefined)
        throw new Error(`not key:value: ${parameter}`);
      properties.set(key.trim(), value.trim());
    }
  }
  const columns = (lines[at] ?? "").split(" ");
  if (columns.slice(0, 3).join() !== "i,j,k") throw new Error(`columns ${columns}`);
  const split = vector(properties, "split");
  const [min, max, edges] = [
    vector(properties, "min_corner"),
    vector(properties, "max_corner"),
    vector(properties, "res"),
  ];
  for (const axis of [0, 1, 2]) {
    const edge = ((max[axis] ?? 0) - (min[axis] ?? 0)) / (split[axis] ?? 0);
    if (!(Math.abs(edge - (edges[axis] ?? 0)) <= 1e-5)) throw new Error(`edge ${edges[axis]}, not ${edge}`);
  }
  const rows = lines.slice(at + 1).map((line) => line.split(" ").map(numberOf));
  const [nx = 0, ny = 0, nz = 0] = split;
  if (rows.length !== nx * ny * nz) throw new Error(`${rows.length} rows`);
  const place = (i: number, j: number, k: number) => (i * ny + j) * nz + k;
  for (const [n, row] of rows.entries()) {
    const [i = -1, j = -1, k = -1] = row;
    if (row.length !== columns.length || !(i < nx && j < ny && k < nz) || place(i, j, k) !== n)
      throw new Error(`row ${n}: ${row}`);
  }
  const value = (column: string, i: number, j: number, k: number) =>
    rows[place(i, j, k)]?.[columns.indexOf(column)] ?? Number.NaN;
  return { min, max, split, edges, value };
}

function numberOf(text: string): number {
  if (text !== "NaN" && (text === "" || Number.isNaN(Number(text)))) throw new Error(`no number: "${text}"`);
  return Number(text);
}

/** Three numbers, or one for all axes. */
function vector(properties: ReadonlyMap<string, string>, key: string): number[] {
  const values = (properties.get(key) ?? "").split(" ").map(numberOf);
  if (values.length === 1) return [...values, ...values, ...values];
  if (values.length !== 3) throw new Error(`${key}: ${values}`);
  return values;
}
