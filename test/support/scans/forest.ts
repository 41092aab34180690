/** A tree of forestRows: a stem of 5 m and a crown of 1.5 m radius from 4 to 8 m, on level ground at z = 0. */
export interface ForestTree {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  readonly dbh_m: number;
  /** Points of the stem, and of the crown; default 1500. */
  readonly count?: number;
}

/** Fractions that fill 0..1 evenly. */
const even = (i: number, step: number) => (i * step) % 1;

/** Text rows of trees with ids, heights above ground and ground classes, on ground of 18 x 12 m. */
export function forestRows(trees: readonly ForestTree[]): string[] {
  const rows = ["x y z tree_instance height_above_ground ground_class"];
  for (let x = 0; x <= 18; x += 0.5) for (let y = 0; y <= 12; y += 0.5) rows.push(`${x} ${y} 0 0 0 1`);
  for (const { id, x, y, dbh_m, count = 1500 } of trees) {
    const add = (radius: number, turn: number, z: number) => {
      const [px, py] = [x + radius * Math.cos(2 * Math.PI * turn), y + radius * Math.sin(2 * Math.PI * turn)];
      rows.push(`${px.toFixed(5)} ${py.toFixed(5)} ${z.toFixed(5)} ${id} ${z.toFixed(5)} 2`);
    };
    for (let i = 0; i < count; i += 1) add(dbh_m / 2, even(i, 0.7548776662), 5 * even(i, 0.5698402909));
    for (let i = 0; i < count; i += 1)
      add(1.5 * Math.sqrt(even(i, 0.7548776662)), even(i, 0.6180339887), 4 + 4 * even(i, 0.5698402909));
  }
  return rows;
}

/** Every point twice, in two scans (scan_index) or at two times (gps_time), that lie `shift` metres apart along x. */
export function forestTwice(
  trees: readonly ForestTree[],
  name: string,
  [first, second]: readonly [number, number],
  shift: number,
): string[] {
  const [head = "", ...rows] = forestRows(trees);
  const moved = rows.map((row) => {
    const [x, ...rest] = row.split(" ");
    return `${Number(x) + shift} ${rest.join(" ")} ${second}`;
  });
  return [`${head} ${name}`, ...rows.map((row) => `${row} ${first}`), ...moved];
}

/** Four trees of 0.2 to 0.35 m, 0.05 m apart by id. */
export const FOUR_TREES: readonly ForestTree[] = [2, 5, 8, 11].map((x, i) => ({
  id: i + 1,
  x,
  y: 3 + i,
  dbh_m: 0.2 + 0.05 * i,
}));
