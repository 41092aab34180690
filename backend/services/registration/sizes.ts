const FOOT = 0.3048;
const INCH = 0.0254;
/** Ratios of two lengths of one thing in units that files have. */
const RATIOS: readonly (readonly [ratio: number, unit: string])[] = [
  [1000, "millimetres"],
  [100, "centimetres"],
  [1 / INCH, "inches"],
  [1 / FOOT, "feet"],
];
/** Two scans of one thing differ by what each saw of it. */
const NEAR = 0.1;
/** A crown may lie far above a mesh of the ground, but not so far. */
const FAR = 2;
/** A mesh in millimetres around the points is so far from them, in their own size. */
const AROUND = 10;
/** Beyond, two things are hardly of one unit. */
const UNLIKE = 15;

interface Sized {
  readonly name: string;
  /** Diagonal, m. */
  readonly size: number;
}

const metres = (value: number) => `${Number(value.toPrecision(3))} m`;

/** How often the larger of two things is as large as the smaller, and the unit of that ratio; null = nothing to say. */
function ratioOf(large: Sized, small: Sized) {
  const ratio = large.size / small.size;
  if (!(small.size > 0) || !Number.isFinite(ratio)) return null;
  const unit = RATIOS.find(([known]) => Math.abs(ratio / known - 1) < NEAR)?.[1] ?? null;
  return unit === null && ratio < UNLIKE ? null : { ratio, unit };
}

/** What two sizes say of the units, where the two do not fit onto each other; "" = nothing. */
export function unlikeSizes(a: Sized, b: Sized): string {
  const [large, small] = a.size >= b.size ? [a, b] : [b, a];
  const found = ratioOf(large, small);
  if (!found) return "";
  const told = `The ${large.name} is ${Number(found.ratio.toPrecision(3))} times as large as the ${small.name} (${metres(large.size)} and ${metres(small.size)})`;
  return found.unit === null
    ? `${told}: are both in metres, and of one thing?`
    : `${told}, as a file in ${found.unit} is that is taken for metres: convert it.`;
}

/** Warns of distances from a cloud to a mesh that lies elsewhere. `nearest`, `median`: distances, m. */
export function elsewhere(cloud: Sized, mesh: Sized, nearest: number, median: number): string[] {
  if (!(cloud.size > 0)) return [];
  const units = unlikeSizes(cloud, mesh);
  if (nearest > FAR * (cloud.size + mesh.size)) {
    const told = `The mesh lies ${metres(nearest)} and more from every point, more than ${FAR} times what both measure (${metres(cloud.size)} and ${metres(mesh.size)}): the two have different coordinate systems, shifts, axes or units, and the distances tell nothing of the surface.`;
    return [[told, units].filter((part) => part !== "").join(" ")];
  }
  return median > AROUND * cloud.size && units !== ""
    ? [`Half of the points lie more than ${metres(median)} from the mesh. ${units}`]
    : [];
}
