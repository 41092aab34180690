// Inversion of the stored pulses of another simulator, compared with an independent one and with the true leaves.
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import {
  type BeamScan,
  energyBalance,
  likelyHitCosine,
  partialCosine,
  SUM_FIELDS,
  SUM_TRANSMITTED,
  traceBeams,
  type VoxelProjection,
} from "../../backend/native/lad.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { type Inverted, invert } from "./lad-inversion.ts";
import { type ReferencePulses, readCase, readPulses, readVoxels } from "./lad-reference.ts";
import { triangleG } from "./lad-triangles.ts";
import { seenAreas } from "./lad-views.ts";
import { column, positions } from "./native.ts";

/** Tolerances of the reference data. */
export const NEAR = { transmission: 1e-4, path_m: 1e-4, density_share: 0.005, density: 0.002 };

export interface ReferenceRow {
  readonly name: string;
  readonly voxels: number;
  /** Largest differences from the other inversion, and voxels whose density is outside the tolerance. */
  readonly transmission: number;
  readonly path_m: number;
  readonly outside: number;
  /** Total leaf area over the true one, with the true mean G and with that of triangles (short, long edges). */
  readonly of_truth: number;
  readonly own: readonly number[];
  /** The same three, returns weighed by energy; empty for scans of one return per pulse. */
  readonly energy: readonly number[];
  /** The same three without voxels (capture-recapture); empty for one scan and for several returns per pulse. */
  readonly seen: readonly number[];
}

const at = (list: ArrayLike<number>, i: number) => list[i] ?? Number.NaN;

const beamScan = (
  { positions: xyz, is_miss, times, target_index, intensity }: ReferencePulses,
  origin: number[],
  multi: boolean,
) => ({
  positions: positions(xyz),
  origins: positions(Float64Array.from(origin)),
  shift: [0, 0, 0] as const,
  is_miss: column("u8", is_miss),
  deleted: null,
  timestamps: multi ? column("f64", times) : null,
  target_index: multi ? column("u8", target_index) : null,
  energy: multi ? column("f32", intensity) : null,
});
type EnergyScan = ReturnType<typeof beamScan>;

/** The scans whose returns count by their energy; null for scans of one return per pulse. */
async function byEnergy(scans: readonly EnergyScan[], grid: VoxelBox, hit_cosine: number): Promise<BeamScan[] | null> {
  const sum = { whole_pulses: 0, whole_energy: 0, partial_energy: 0 };
  const shares = (scan: EnergyScan, scale: number): BeamScan | null =>
    scan.energy && { ...scan, shares: { intensity: scan.energy, scale, offset: 0, partial_misses: true } };
  for (const scan of scans) {
    const plain = shares(scan, 1);
    if (!plain) return null;
    const balance = await energyBalance(plain, grid).promise;
    for (const key of ["whole_pulses", "whole_energy", "partial_energy"] as const) sum[key] += balance[key];
  }
  const cosine = partialCosine(sum, hit_cosine);
  return scans.flatMap((scan) => shares(scan, 1 / cosine) ?? []);
}

/** Inverts the stored pulses of a case. */
export async function referenceRow(name: string): Promise<ReferenceRow> {
  const { grid, scans, gtheta_override_values, helios_settings_A, helios_settings_B } = readCase(name);
  const read = scans.map((scan) => beamScan(readPulses(name, scan), scan.origin, scan.return_type === "multi"));
  const { rotation, ...box } = grid;
  const voxels = { ...box, rotation_deg: rotation, offsets: null, kept: null };
  const true_g = gtheta_override_values[1];
  const found = await invert(read, voxels, column("f64", Float64Array.of(true_g)));
  const volume = (grid.size[0] * grid.size[1] * grid.size[2]) / (grid.nx * grid.ny * grid.nz);
  const total = ({ lad }: Inverted) => Array.from(lad).reduce((sum, value) => sum + value * volume, 0);
  const weighed = async (g: NativeColumn, hit_cosine: number, own: VoxelProjection | null = null) => {
    const shared = await byEnergy(read, voxels, hit_cosine);
    return shared && total(await invert(shared, voxels, g, { own }));
  };
  const { zenith_count } = await traceBeams(read, voxels, null).promise;
  const likely = await likelyHitCosine(true_g, zenith_count).promise;
  const energies = [await weighed(column("f64", Float64Array.of(true_g)), likely.hit_cosine)];
  const totals: number[] = [];
  for (const limits of [helios_settings_A, helios_settings_B]) {
    const own = await triangleG(read, scans[0]?.return_type === "multi", voxels, limits);
    totals.push(total(await invert(read, voxels, own.g, { own })));
    energies.push(await weighed(own.g, own.hit_cosine, own));
  }
  const several = scans.length > 1 && scans.every(({ return_type }) => return_type === "single");
  const both = [helios_settings_A, helios_settings_B];
  const seen = several ? await seenAreas(name, read, voxels, true_g, both) : [];
  const diagonal = Math.hypot(grid.size[0] / grid.nx, grid.size[1] / grid.ny, grid.size[2] / grid.nz);
  let [transmission, path_m, outside, compared, area, truth] = [0, 0, 0, 0, 0, 0];
  for (const voxel of readVoxels(name)) {
    const known = (key: string) => voxel.get(key) ?? Number.NaN;
    const v = known("index");
    area += at(found.lad, v) * volume;
    truth += known("true_leaf_area_m2");
    if (!(known("chk_beams_reaching") >= 5)) continue;
    compared += 1;
    const beams = at(found.sums, v * SUM_FIELDS);
    const share = at(found.sums, v * SUM_FIELDS + SUM_TRANSMITTED) / beams;
    transmission = Math.max(transmission, Math.abs(share - known("chk_transmission_P")));
    const path = (at(found.sums, v * SUM_FIELDS + 1) * diagonal) / beams;
    path_m = Math.max(path_m, Math.abs(path - known("chk_mean_path_reaching_m")));
    const wanted = known("chk_lad_G_true_mean_reaching");
    const off = Math.abs(at(found.lad, v) - wanted);
    if (!(off <= Math.max(NEAR.density, NEAR.density_share * wanted))) outside += 1;
  }
  return {
    name,
    voxels: compared,
    transmission,
    path_m,
    outside,
    of_truth: area / truth,
    own: totals.map((area) => area / truth),
    energy: energies.flatMap((area) => (area === null ? [] : [area / truth])),
    seen: seen.map((area) => area / truth),
  };
}
