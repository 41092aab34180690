/** A scan with mixed pixels: a wall 6 m from the scanner, a post 3 m in front of it. Every fourth beam of the post's
 * edges ends in the air between them, a little behind the one before: as near to each other as points of a twig. Coordinates in the scanner's frame. */
export interface PostScan {
  readonly points: readonly (readonly [number, number, number])[];
  /** 1 = mixed pixel. */
  readonly mixed: readonly number[];
  readonly rows: number;
  readonly columns: number;
}

export function postBeforeWall(step = 0.002): PostScan {
  const points: [number, number, number][] = [];
  const mixed: number[] = [];
  const half = 30;
  for (let column = -half; column < half; column += 1)
    for (let row = -half; row < half; row += 1) {
      const [azimuth, elevation] = [column * step, row * step];
      const wall = 6 / (Math.cos(elevation) * Math.cos(azimuth));
      const edge = Math.abs(column) === 6 && row % 4 === 0;
      const part = 0.3 + (0.05 * (row + half)) / half;
      const range = edge ? 3 + part * (wall - 3) : Math.abs(column) <= 6 ? 3 : wall;
      points.push([
        range * Math.cos(elevation) * Math.cos(azimuth),
        range * Math.cos(elevation) * Math.sin(azimuth),
        range * Math.sin(elevation),
      ]);
      mixed.push(edge ? 1 : 0);
    }
  return { points, mixed, rows: 2 * half, columns: 2 * half };
}
