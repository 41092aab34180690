import { describe, expect, it } from "vitest";
import * as native from "../../../backend/native/wood-model.ts";
import { column, labelsOf, positions, values } from "../../accuracy/native.ts";
import { uniform } from "../../accuracy/random.ts";

const KINDS = ["dxyz", "local_geometry", "path", "lines"] as const;
const CROPS = { levels: 2, neighbors: 4, max_voxels: 256, inner_fraction: 0.7, class_count: 2, hops: 0 };

/** A stem of 5 m with clumps of leaves; coordinates are whole parts of 1/1024 m, so that offsets and mirrors are exact. */
function tree(count: number): Float64Array {
  const next = uniform(5);
  const whole = (value: number) => Math.round(value * 1024) / 1024;
  const out = new Float64Array(3 * count);
  for (let i = 0; i < count; i += 1) {
    const turn = 2 * Math.PI * next();
    const z = 5 * next();
    const isStem = i % 3 !== 0;
    const clump = Math.floor(4 * next());
    const place = isStem
      ? [0.1 * Math.cos(turn), 0.1 * Math.sin(turn), z]
      : [0.6 * Math.cos(clump) + 0.3 * next(), 0.6 * Math.sin(clump) + 0.3 * next(), 4 + 0.6 * next()];
    for (let k = 0; k < 3; k += 1) out[3 * i + k] = whole(place[k] ?? 0);
  }
  return out;
}

const EDGES = { finest_m: 0.02, coarsest_m: 0.02, most_single: 1, enlarge_to_m: 0 };

async function featuresOf(
  xyz: Float64Array,
  options: { threads?: number } = {},
  kinds: readonly native.FeatureKind[] = KINDS,
) {
  const skip = column("u8", new Uint8Array(xyz.length / 3));
  const made = await native.voxelCloud(positions(xyz), skip, null, { ...EDGES, kinds }, options).promise;
  const table = await native.voxelColumns(made.cloud).promise;
  return {
    ...made,
    width: table.width,
    features: values(table.features) as Float32Array,
    voxel_of: values(table.voxel_of) as Uint32Array,
    places: values(table.places) as Float64Array,
  };
}

const changed = (xyz: Float64Array, change: (place: [number, number, number]) => readonly number[]) =>
  Float64Array.from({ length: xyz.length }, (_, i) => {
    const at = i - (i % 3);
    return change([xyz[at] ?? 0, xyz[at + 1] ?? 0, xyz[at + 2] ?? 0])[i % 3] ?? 0;
  });

/** Share of the values of two tables, row by point, that differ by more than 0.02. */
function share(a: Awaited<ReturnType<typeof featuresOf>>, b: typeof a): number {
  let [different, count] = [0, 0];
  for (const [i, voxel] of a.voxel_of.entries())
    for (let k = 0; k < a.width; k += 1) {
      const [x, y] = [a.features[voxel * a.width + k] ?? 0, b.features[(b.voxel_of[i] ?? 0) * a.width + k] ?? 0];
      different += Math.abs(x - y) > 0.02 ? 1 : 0;
      count += 1;
    }
  return different / count;
}

describe("features of voxels", () => {
  const xyz = tree(3000);

  it("are the same bits for any order of the points, any threads and an offset of 5e6 m", async () => {
    const one = await featuresOf(xyz, { threads: 1 });
    expect(one.width).toBe(89);
    expect(one.features.every(Number.isFinite)).toBe(true);
    const reversed = new Float64Array(xyz.length);
    for (let i = 0; i < 3000; i += 1) reversed.set(xyz.subarray(3 * i, 3 * i + 3), xyz.length - 3 - 3 * i);
    for (const other of [
      await featuresOf(xyz, { threads: 2 }),
      await featuresOf(reversed),
      await featuresOf(changed(xyz, ([x, y, z]) => [x + 5e6, y - 5e6, z + 300])),
    ])
      expect(Buffer.compare(Buffer.from(other.features.buffer), Buffer.from(one.features.buffer))).toBe(0);
  });

  it("hardly change when the cloud is mirrored or turned about the vertical", async () => {
    const one = await featuresOf(xyz);
    expect(share(one, await featuresOf(changed(xyz, ([x, y, z]) => [-x, y, z])))).toBeLessThan(0.02);
    expect(share(one, await featuresOf(changed(xyz, ([x, y, z]) => [-y, x, z])))).toBeLessThan(0.02);
    // Tilted it is another tree: the measure itself can tell.
    expect(share(one, await featuresOf(changed(xyz, ([x, y, z]) => [z, y, -x])))).toBeGreaterThan(0.1);
  });

  it("tell the stem from the clumps by what hangs on them and by the length of paths", async () => {
    const one = await featuresOf(xyz, {}, ["path"]);
    const of = (i: number, k: number) => one.features[(one.voxel_of[i] ?? 0) * one.width + k] ?? 0;
    let [stem, clumps] = [0, 0];
    for (let i = 0; i < 3000; i += 1) {
      const z = xyz[3 * i + 2] ?? 0;
      const reach = 2 ** of(i, 4) - 0.01;
      if (i % 3 === 0) clumps = Math.max(clumps, reach);
      else if (z < 1) stem = Math.max(stem, reach);
      // Paths of the stem start near its foot: none is much shorter than the straight line down.
      if (i % 3 !== 0) expect(2 ** of(i, 0) - 0.01).toBeGreaterThan(z - 0.3);
      // A clump is reached up the stem and over a gap.
      else expect(2 ** of(i, 0) - 0.01).toBeGreaterThan(3.8);
    }
    expect(stem).toBeGreaterThan(3.5);
    expect(clumps).toBeLessThan(stem / 2);
  });

  it("tell a straight twig from the leaves around it, where covariances do not", async () => {
    const next = uniform(11);
    const count = 1200;
    const twig = Float64Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? Math.floor(i / 3) * 0.03 : 0.3));
    const leaves = Float64Array.from({ length: 3 * count }, () => 0.6 * next());
    const one = await featuresOf(Float64Array.from([...twig, ...leaves]), {}, ["local_geometry", "lines"]);
    const of = (i: number, k: number) => one.features[(one.voxel_of[i] ?? 0) * one.width + k] ?? 0;
    const mean = (k: number, first: number, end: number) => {
      let sum = 0;
      for (let i = first; i < end; i += 1) sum += of(i, k);
      return sum / (end - first);
    };
    // Of 16 neighbours: the eighths of the line, and the linearity of 20.
    const [filled, linear] = [36, 6].map((k) => [mean(k, 4, 16), mean(k, 20, 20 + count)]) as [number[], number[]];
    expect((filled[0] ?? 0) - (filled[1] ?? 0)).toBeGreaterThan(0.15);
    expect((linear[0] ?? 0) - (linear[1] ?? 0)).toBeLessThan(0.15);
  });

  it("of a straight line fill all its eighths and lie on it", async () => {
    const line = Float64Array.from(
      { length: 300 },
      (_, i) => (i % 3) * 0.5 + Math.floor(i / 3) * 0.03 * (i % 3 === 0 ? 1 : 2),
    );
    const one = await featuresOf(line, {}, ["lines"]);
    const at = (i: number) =>
      one.features.subarray((one.voxel_of[i] ?? 0) * one.width, ((one.voxel_of[i] ?? 0) + 1) * one.width);
    // In the middle: filled, both sides, longest run, all neighbours, no distance, |z| of (1, 2, 2) / 3; one point a voxel.
    for (const first of [0, 6])
      for (const [k, value] of [1, 1, 1, 1, 0, 2 / 3].entries()) expect(at(50)[first + k]).toBeCloseTo(value, 2);
    expect(at(50)[12]).toBe(0);
    // At the end only one side is there.
    expect(at(0)[1]).toBe(0);
    expect(at(0)[0]).toBeCloseTo(0.5, 6);
  });

  it("exist for clouds without shape", async () => {
    const clouds = [
      [],
      [1, 2, 3],
      [1, 2, 3, 1, 2, 3],
      [0, 0, 0, 1e7, 0, 0, 0, 1e7, 5],
      Array.from({ length: 300 }, (_, i) => i / 7),
    ];
    for (const cloud of clouds) {
      const found = await featuresOf(Float64Array.from(cloud));
      expect(found.features.every(Number.isFinite)).toBe(true);
      expect(found.features.length).toBe(found.voxel_count * found.width);
    }
  });
});

describe("a cancel while features are computed", () => {
  // The time of the processor, not that of the clock: other programs may hold up this one.
  it.each([50, 400, 1200])("after %i ms of work costs at most 250 ms more", async (after) => {
    const xyz = tree(400_000);
    const made = native.voxelCloud(
      positions(xyz),
      column("u8", new Uint8Array(400_000)),
      null,
      {
        ...EDGES,
        finest_m: 0.005,
        coarsest_m: 0.005,
        kinds: KINDS,
      },
      { threads: 1 },
    );
    const start = process.cpuUsage();
    const worked = () => {
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    while (worked() < after) await new Promise((resolve) => setTimeout(resolve, 2));
    const before = worked();
    made.cancel();
    await expect(made.promise).rejects.toThrow(/cancel/);
    expect(worked() - before).toBeLessThan(250);
  });
});

describe("crops of voxels", () => {
  it("claim every voxel, list the nearest neighbours, and their votes become labels", async () => {
    const xyz = tree(2000);
    xyz.fill(Number.NaN, 0, 1);
    const skip = new Uint8Array(2000);
    skip[1] = 1;
    const made = await native.voxelCloud(positions(xyz), column("u8", skip), null, { ...EDGES, kinds: KINDS }).promise;
    const table = await native.voxelColumns(made.cloud).promise;
    const places = values(table.places);
    const place = (v: number) => [0, 1, 2].map((k) => Number(places[3 * v + k]));
    const crops = await native.voxelCrops(made.cloud, CROPS).promise;
    let claimed = 0;
    for (;;) {
      const crop = await native.nextCrop(crops).promise;
      if (!crop) break;
      await expect(native.nextCrop(crops).promise).rejects.toThrow("no vote yet");
      expect(crop.claimed).toBeGreaterThan(claimed);
      claimed = crop.claimed;
      const voxels = new Uint32Array(crop.voxels);
      const neighbors = new BigInt64Array(crop.levels[0]?.neighbors ?? new ArrayBuffer(0));
      const distance = (a: number, b: number) =>
        Math.hypot(...place(voxels[a] ?? 0).map((value, k) => value - (place(voxels[b] ?? 0)[k] ?? 0)));
      for (let row = 0; row < voxels.length; row += 37) {
        const list = [...neighbors.subarray(4 * row, 4 * row + 4)].map(Number);
        expect(list[0]).toBe(row);
        const all = Array.from(voxels, (_, other) => distance(row, other)).sort((a, b) => a - b);
        for (const [k, other] of list.entries()) expect(distance(row, other)).toBeCloseTo(all[k] ?? 0, 12);
      }
      const parents = new BigInt64Array(crop.levels[0]?.parent ?? new ArrayBuffer(0));
      const above = (crop.levels[1]?.positions.byteLength ?? 0) / 12;
      expect(parents.length).toBe(voxels.length);
      expect(new Set(parents).size).toBe(above);
      // Votes for the first class in the upper half.
      const middle = 2.5;
      const logits = Float32Array.from({ length: 2 * voxels.length }, (_, i) =>
        (place(voxels[i >> 1] ?? 0)[2] ?? 0) + middle > 2.5 === (i % 2 === 0) ? 3 : -3,
      );
      await expect(native.voteCrop(crops, logits.subarray(1)).promise).rejects.toThrow("one logit per class");
      await native.voteCrop(crops, logits).promise;
    }
    expect(claimed).toBe(made.voxel_count);
    const labels = labelsOf(await native.cropLabels(crops, { values: [1, 2], unknown: 2, skipped: 0 }).promise);
    expect([...labels.subarray(0, 2)]).toEqual([2, 0]);
    const voxel_of = values(table.voxel_of);
    for (let i = 2; i < 2000; i += 1) expect(labels[i]).toBe((place(Number(voxel_of[i]))[2] ?? 0) > 0 ? 1 : 2);
  });

  it("refuse parameters and logits that they cannot use", async () => {
    const made = await native.voxelCloud(positions(tree(50)), column("u8", new Uint8Array(50)), null, {
      ...EDGES,
      kinds: ["dxyz"],
    }).promise;
    await expect(native.voxelCrops(made.cloud, { ...CROPS, max_voxels: 10 }).promise).rejects.toThrow("max_voxels");
    const crops = await native.voxelCrops(made.cloud, CROPS).promise;
    const crop = await native.nextCrop(crops).promise;
    const logits = new Float32Array(2 * (crop?.voxel_count ?? 0)).fill(Number.NaN);
    await expect(native.voteCrop(crops, logits).promise).rejects.toThrow("not finite");
    await expect(native.cropLabels(crops, { values: [1, 2], unknown: 0, skipped: 0 }).promise).rejects.toThrow(
      "not every voxel",
    );
  });
});
