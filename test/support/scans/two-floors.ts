import { uniform } from "../../accuracy/random.ts";

/** Rows of the floor of a forest, 20 m wide, that two scans see, the second `rise` metres higher, and of four trees of each; `column` tells the scans apart. */
export function twoFloors(rise: number, column?: string): string[] {
  const next = uniform(5);
  const rows = [`x y z${column ? ` ${column}` : ""}`];
  const floor = (x: number, y: number) => 0.06 * Math.sin(1.3 * x + 0.4) * Math.cos(1.7 * y) + 0.05 * x;
  for (const scan of [0, 1]) {
    const up = scan * rise;
    const add = (x: number, y: number, z: number) =>
      rows.push(`${x.toFixed(4)} ${y.toFixed(4)} ${(z + up).toFixed(4)}${column ? ` ${scan + 1}` : ""}`);
    for (let i = 0; i < 30_000 - 5000 * scan; i += 1) {
      const [x, y] = [20 * next(), 20 * next()];
      add(x, y, floor(x, y) + 0.006 * (next() - 0.5));
    }
    for (const [x, y] of [
      [5, 5],
      [15, 5],
      [5, 15],
      [15, 15],
    ] as const) {
      for (let i = 0; i < 1500; i += 1) {
        const turn = 2 * Math.PI * next();
        add(x + 0.15 * Math.cos(turn), y + 0.15 * Math.sin(turn), floor(x, y) + 8 * next());
      }
      for (let i = 0; i < 600; i += 1) {
        const [turn, far] = [2 * Math.PI * next(), 1.5 * Math.sqrt(next())];
        add(x + far * Math.cos(turn), y + far * Math.sin(turn), floor(x, y) + 6 + 3 * next());
      }
    }
  }
  return rows;
}
