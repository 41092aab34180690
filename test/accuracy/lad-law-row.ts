// Inversion of beams drawn from Beer's law.
import { type BeamScan, leafProjectionBins, meanLeafProjection, traceBeams } from "../../backend/native/lad.ts";
import { VOXEL } from "../../backend/native/lad-inversion.ts";
import { type BeamG, beamG, invert } from "./lad-inversion.ts";
import { type LawCase, lawBeams, lawGrid } from "./lad-law.ts";
import { column, positions } from "./native.ts";

const SEEDS = 50;

export interface LawRow {
  readonly name: string;
  readonly voxels: number;
  /** Mean of the total over the seeds to the truth, percent. */
  readonly bias: number;
  /** Intervals that contain the truth, percent, and their number. */
  readonly coverage: number;
  readonly intervals: number;
}

const at = (list: ArrayLike<number>, i: number) => list[i] ?? Number.NaN;

/** G of the medium as the inversion is told it. */
async function projectionOf(one: LawCase, scan: BeamScan): Promise<{ g: number; beams: BeamG | null }> {
  if (!one.planophile) return { g: one.g, beams: null };
  const law = { law: "planophile" } as const;
  const { sums, zenith_count } = await traceBeams([scan], lawGrid(one), null).promise;
  sums.release();
  const g = await meanLeafProjection(law, zenith_count).promise;
  return { g, beams: one.planophile === "one G" ? null : beamG(await leafProjectionBins(law).promise) };
}

/** Inverts the beams of each seed. */
export async function lawRow(one: LawCase): Promise<LawRow> {
  const cells = one.voxels ** 3;
  let [total, intervals, covered] = [0, 0, 0];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const beams = lawBeams(one, seed);
    const scan: BeamScan = {
      positions: positions(beams.positions),
      origins: positions(beams.origins),
      shift: [0, 0, 0],
      is_miss: column("u8", beams.is_miss),
      deleted: null,
      timestamps: one.rays > 1 ? column("f64", beams.times) : null,
      target_index: one.rays > 1 ? column("u8", beams.target_index) : null,
      shares: one.energy
        ? {
            intensity: column(
              "u8",
              beams.is_miss.map(() => 1),
            ),
            scale: 1 / one.rays,
            offset: 0,
            partial_misses: true,
          }
        : null,
    };
    const { g, beams: own } = await projectionOf(one, scan);
    const found = await invert([scan], lawGrid(one), column("f64", Float64Array.of(g)), { beams: own });
    for (let v = 0; v < cells; v += 1) {
      total += at(found.lad, v) / cells / SEEDS;
      if ((at(found.state, v) & VOXEL.trusted) === 0) continue;
      intervals += 1;
      if (Math.abs(at(found.lad, v) - one.density) <= 1.96 * Math.sqrt(at(found.variance, v))) covered += 1;
    }
  }
  const bias = 100 * (total / one.density - 1);
  return {
    name: one.name,
    voxels: cells,
    bias,
    coverage: (100 * covered) / intervals,
    intervals,
  };
}
