/** Where the scanner stands. */
export const SCANNER = [0, 0, 1.5] as const;
/** The directions of the scan: zenith rows and azimuth columns, degrees. */
export const RASTER = { n_theta: 40, n_phi: 90, theta_min: 30, theta_max: 150, phi_min: 0, phi_max: 360 } as const;

const TREES = [
  { id: 1, x: 2.4, y: 0.6, radius: 0.2 },
  { id: 2, x: -1.9, y: 2.1, radius: 0.15 },
  { id: 3, x: 0.3, y: -2.8, radius: 0.25 },
] as const;
const CROWN = { height: 4, radius: 1 } as const;
const STEM_TOP = 4;
const FAR = 9;

type Triple = readonly [number, number, number];

interface Seen {
  readonly range: number;
  readonly tree: number;
}

/** The first thing that a beam of this direction meets, within FAR metres. */
function firstSeen([dx, dy, dz]: Triple): Seen | undefined {
  let seen: Seen = { range: dz < 0 ? -SCANNER[2] / dz : Number.POSITIVE_INFINITY, tree: 0 };
  const take = (range: number, tree: number) => {
    if (range > 0 && range < seen.range) seen = { range, tree };
  };
  for (const { id, x, y, radius } of TREES) {
    const flat = dx * dx + dy * dy;
    const along = (dx * x + dy * y) / flat;
    const stem = along * along - (x * x + y * y - radius * radius) / flat;
    const range = along - Math.sqrt(stem);
    if (stem >= 0 && SCANNER[2] + range * dz >= 0 && SCANNER[2] + range * dz <= STEM_TOP) take(range, id);
    const up = CROWN.height - SCANNER[2];
    const toCrown = dx * x + dy * y + dz * up;
    const crown = toCrown * toCrown - (x * x + y * y + up * up - CROWN.radius ** 2);
    if (crown >= 0) take(toCrown - Math.sqrt(crown), id);
  }
  return seen.range <= FAR ? seen : undefined;
}

/** Text rows of a scan of three trees on level ground, with the row, column and time of every pulse that hit. */
export function scannedTrees(): string[] {
  const rows = [
    "x y z row_index column_index timestamp intensity tree_instance ground_class height_above_ground class",
  ];
  const { n_theta, n_phi, theta_min, theta_max } = RASTER;
  for (let column = 0; column < n_phi; column += 1) {
    for (let row = 0; row < n_theta; row += 1) {
      const zenith = ((theta_min + ((row + 0.5) * (theta_max - theta_min)) / n_theta) * Math.PI) / 180;
      const azimuth = (((column + 0.5) * 360) / n_phi / 180) * Math.PI;
      const beam: Triple = [
        Math.sin(zenith) * Math.sin(azimuth),
        Math.sin(zenith) * Math.cos(azimuth),
        Math.cos(zenith),
      ];
      const seen = firstSeen(beam);
      if (!seen) continue;
      const [x, y, z] = beam.map((part, axis) => (part * seen.range + (SCANNER[axis] ?? 0)).toFixed(5));
      const labels = `${seen.tree} ${seen.tree === 0 ? 1 : 2} ${z} ${row % 5}`;
      rows.push(`${x} ${y} ${z} ${row} ${column} ${column * n_theta + row} ${(7 * row) % 900} ${labels}`);
    }
  }
  return rows;
}
