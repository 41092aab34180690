// Leaf area density of media with known density, and of stored pulses with the values of an independent inversion.
import { hitMask } from "../../backend/native/cloud/cloud.ts";
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import {
  type BeamScan,
  invertBeams,
  SUM_FIELDS,
  SUM_TRANSMITTED,
  traceBeams,
  VOXEL,
  voxelProjection,
} from "../../backend/native/lad.ts";
import { type ScanTriangles, scanMesh, triangulateScan, voxelPoints } from "../../backend/native/scan-meshes.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { LAW_CASES, type LawCase, lawBeams, lawGrid } from "./lad-law.ts";
import {
  REFERENCE_CASES,
  type ReferencePulses,
  readCase,
  readPulses,
  readVoxels,
  type TriangleLimits,
} from "./lad-reference.ts";
import { column, coordinatesOf, positions, values } from "./native.ts";
import type { Part } from "./part.ts";

const METHODS = ["law", "reference"] as const;
const SEEDS = 50;
/** Tolerances of the reference data. */
const NEAR = { transmission: 1e-4, path_m: 1e-4, density_share: 0.005, density: 0.002 };

interface LadRow {
  readonly method: (typeof METHODS)[number];
  readonly name: string;
  readonly voxels: number;
  /** law: mean of the total over the seeds to the truth, percent. */
  readonly bias: number;
  /** law: intervals that contain the truth, percent, and their number. */
  readonly coverage: number;
  readonly intervals: number;
  /** reference: largest differences, and voxels whose density is outside the tolerance. */
  readonly transmission: number;
  readonly path_m: number;
  readonly outside: number;
  /** reference: total leaf area over the true one, with the true mean G and with that of triangles (short, long edges). */
  readonly of_truth: number;
  readonly own: readonly number[];
}
const NOTHING = { bias: 0, coverage: 0, intervals: 0, transmission: 0, path_m: 0, outside: 0, of_truth: 0, own: [] };

const at = (list: ArrayLike<number>, i: number) => list[i] ?? Number.NaN;

/** Values of every voxel. */
interface Inverted {
  readonly sums: ArrayLike<number>;
  readonly lad: ArrayLike<number>;
  readonly variance: ArrayLike<number>;
  readonly state: ArrayLike<number>;
}

async function invert(scans: readonly BeamScan[], grid: VoxelBox, g: NativeColumn): Promise<Inverted> {
  const traced = await traceBeams(scans, grid).promise;
  const { nx, ny, nz } = grid;
  const voxel_size = [grid.size[0] / nx, grid.size[1] / ny, grid.size[2] / nz] as const;
  const params = { voxel_size, nx, ny, nz, min_beams: 5, element_width_m: 0, occlusion_threshold_m: 0 };
  const found = await invertBeams(traced.sums, g, params).promise;
  const read = {
    sums: values(traced.sums),
    lad: values(found.lad),
    variance: values(found.variance),
    state: values(found.state),
  };
  for (const one of [traced.sums, found.lad, found.variance, found.state]) one.release();
  return read;
}

async function lawRow(one: LawCase): Promise<LadRow> {
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
    };
    const found = await invert([scan], lawGrid(one), column("f64", Float64Array.of(one.g)));
    for (let v = 0; v < cells; v += 1) {
      total += at(found.lad, v) / cells / SEEDS;
      if ((at(found.state, v) & VOXEL.trusted) === 0) continue;
      intervals += 1;
      if (Math.abs(at(found.lad, v) - one.density) <= 1.96 * Math.sqrt(at(found.variance, v))) covered += 1;
    }
  }
  const bias = 100 * (total / one.density - 1);
  return {
    ...NOTHING,
    method: "law",
    name: one.name,
    voxels: cells,
    bias,
    coverage: (100 * covered) / intervals,
    intervals,
  };
}

const beamScan = (
  { positions: xyz, is_miss, times, target_index }: ReferencePulses,
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
});

/** G of each voxel from an angular triangulation of the scans. */
async function triangleG(
  scans: readonly BeamScan[],
  multi: boolean,
  grid: VoxelBox,
  { lmax, max_aspect_ratio }: TriangleLimits,
): Promise<NativeColumn> {
  const triangles: ScanTriangles[] = [];
  for (const { positions: xyz, origins, is_miss, target_index } of scans) {
    const { skip } = await hitMask(is_miss, null, xyz.length).promise;
    // Later returns and misses (99) have a number above 0.
    const first = multi && target_index ? target_index : skip;
    const { points } = await voxelPoints(xyz, first, [0, 0, 0], grid).promise;
    const origin = [...coordinatesOf(origins)] as unknown as [number, number, number];
    const { indices } = await triangulateScan(points, origin).promise;
    triangles.push({ points, indices, origin, is_multi_return: multi });
  }
  const limits_of_mesh = { lmax_m: lmax, max_aspect_ratio };
  const mesh = await scanMesh(triangles, limits_of_mesh).promise;
  const origins = positions(Float64Array.from(triangles.flatMap(({ origin }) => [...origin])));
  return (await voxelProjection({ ...mesh, origins }, grid, limits_of_mesh).promise).g;
}

async function referenceRow(name: string): Promise<LadRow> {
  const { grid, scans, gtheta_override_values, helios_settings_A, helios_settings_B } = readCase(name);
  const read = scans.map((scan) => beamScan(readPulses(name, scan), scan.origin, scan.return_type === "multi"));
  const { rotation, ...box } = grid;
  const voxels = { ...box, rotation_deg: rotation, offsets: null, kept: null };
  const found = await invert(read, voxels, column("f64", Float64Array.of(gtheta_override_values[1])));
  const volume = (grid.size[0] * grid.size[1] * grid.size[2]) / (grid.nx * grid.ny * grid.nz);
  const totals: number[] = [];
  for (const limits of [helios_settings_A, helios_settings_B]) {
    const g = await triangleG(read, scans[0]?.return_type === "multi", voxels, limits);
    const { lad } = await invert(read, voxels, g);
    totals.push(Array.from(lad).reduce((sum, value) => sum + value * volume, 0));
  }
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
    ...NOTHING,
    method: "reference",
    name,
    voxels: compared,
    transmission,
    path_m,
    outside,
    of_truth: area / truth,
    own: totals.map((total) => total / truth),
  };
}

const fixed = (value: number, digits: number) => value.toFixed(digits);

export const ladPart: Part<LadRow> = {
  methods: METHODS,
  groups: [...LAW_CASES.map(({ name }) => name), ...REFERENCE_CASES],
  async measure(methods, groups) {
    const rows: LadRow[] = [];
    if (methods.includes("law")) {
      for (const one of LAW_CASES) if (groups.includes(one.name)) rows.push(await lawRow(one));
    }
    if (methods.includes("reference")) {
      if (REFERENCE_CASES.length === 0) console.error("no stored pulses: set APP_TEST_DATA");
      for (const name of REFERENCE_CASES) if (groups.includes(name)) rows.push(await referenceRow(name));
    }
    return rows;
  },
  tables(rows) {
    const [law, reference] = METHODS.map((method) => rows.filter((row) => row.method === method));
    const lines: string[] = [];
    if (law && law.length > 0) {
      lines.push("| medium | voxels | bias of the total | 95 % intervals that hold the truth | intervals |");
      lines.push("|---|---|---|---|---|");
      for (const { name, voxels, bias, coverage, intervals } of law)
        lines.push(`| ${name} | ${voxels} | ${fixed(bias, 2)} % | ${fixed(coverage, 1)} % | ${intervals} |`);
    }
    if (reference && reference.length > 0) {
      lines.push(
        "",
        "| case | voxels | transmission differs by | path differs by | LAD outside | total of the truth | G of short triangles | of long ones |",
      );
      lines.push("|---|---|---|---|---|---|---|---|");
      for (const { name, voxels, transmission, path_m, outside, of_truth, own } of reference) {
        const differences = `${transmission.toExponential(1)} | ${path_m.toExponential(1)} m | ${outside}`;
        lines.push(
          `| ${name} | ${voxels} | ${differences} | ${fixed(of_truth, 3)} | ${own.map((one) => fixed(one, 3)).join(" | ")} |`,
        );
      }
    }
    return lines.join("\n");
  },
  targets(rows) {
    const missed = rows.flatMap((row) => {
      const { method, name, bias, coverage, transmission, path_m, outside } = row;
      const reached =
        method === "law"
          ? Math.abs(bias) <= 1 && coverage >= 92 && coverage <= 98
          : transmission <= NEAR.transmission && path_m <= NEAR.path_m && outside === 0;
      return reached ? [] : [name];
    });
    return `\n${rows.length - missed.length} of ${rows.length} reached${missed.length > 0 ? `; not ${missed.join(", ")}` : ""}`;
  },
};
