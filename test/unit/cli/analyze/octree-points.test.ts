import { describe, expect, test } from "vitest";
import { loadOctreePoints } from "../../../../backend/cli/analyze/octree-points.ts";
import { CACHE_ID, fakeService, smallOctree } from "../../../support/cli/analyze-fake.ts";
import { makeOctree } from "../../../support/octree/potree2-fixture.ts";

describe("budget", () => {
  test.each([
    [27, 27],
    [1000, 27],
    [18, 18],
    [9, 9],
    [12, 12],
    [1, 1],
  ])("of %d points takes %d", async (budget, taken) => {
    const { client } = fakeService();
    const { sample } = await loadOctreePoints(client, CACHE_ID, { budget });
    expect(sample.point_count).toBe(taken);
    expect(sample.total_count).toBe(27);
    expect(sample.position).toHaveLength(3 * taken);
  });

  test("takes complete levels first, then an equal share of the next", async () => {
    const { client } = fakeService();
    const { sample } = await loadOctreePoints(client, CACHE_ID, { budget: 12 });
    const z = Array.from({ length: 12 }, (_, i) => sample.position[3 * i + 2] ?? 0);
    expect(z.filter((value) => value === 30)).toHaveLength(9);
    // Three of the nine points of r0, one from each third.
    const rest = Array.from({ length: 12 }, (_, i) => i).filter((i) => z[i] === 31);
    expect(rest.map((i) => sample.rgb?.[3 * i])).toEqual([10, 13, 16]);
  });

  test("spreads a share over all nodes of a level", async () => {
    const node = (name: string, x: number) => ({
      name,
      points: [
        [x, 0, 0],
        [x, 1, 0],
      ],
    });
    const octree = makeOctree({ nodes: ["r0", "r1", "r2", "r3"].map((name, k) => node(name, k)) });
    const { client } = fakeService(octree);
    const { sample } = await loadOctreePoints(client, CACHE_ID, { budget: 4 });
    const x = Array.from({ length: 4 }, (_, i) => Math.round(1000 * (sample.position[3 * i] ?? 0)));
    expect(x).toEqual([0, 1, 2, 3]);
  });
});

test("decodes positions and 16-bit colours; neighbouring nodes share a request", async () => {
  const { client, calls } = fakeService();
  const progress: number[] = [];
  const { sample } = await loadOctreePoints(client, CACHE_ID, {
    budget: 100,
    onProgress: (done, total) => progress.push(done / total),
  });
  expect([...sample.position.subarray(78)]).toEqual([12, 22, 32]);
  expect([...(sample.rgb ?? [])].filter((_, i) => i % 3 === 0)).toEqual(Array.from({ length: 27 }, (_, k) => k));
  expect(calls).toEqual(["metadata.json", "hierarchy.bin", `octree.bin 0-${27 * 18 - 1}`]);
  expect(progress).toEqual([1]);
});

test("keeps 8-bit colours unchanged", async () => {
  const octree = makeOctree({
    attributes: [{ name: "rgb", type: "uint16", elements: 3 }],
    nodes: [{ name: "r", points: [[0, 0, 0, 255, 128, 7]] }],
  });
  const { sample } = await loadOctreePoints(fakeService(octree).client, CACHE_ID, { budget: 10 });
  expect(sample.rgb).toEqual(Uint8Array.of(255, 128, 7));
});

test("an octree without points gives an empty sample", async () => {
  const { sample } = await loadOctreePoints(fakeService(makeOctree({ nodes: [] })).client, CACHE_ID, { budget: 10 });
  expect([sample.point_count, sample.total_count, sample.position.length]).toEqual([0, 0, 0]);
});

test("a truncated file is an error, not zeros", async () => {
  const octree = smallOctree();
  const short = { ...octree, files: () => ({ ...octree.files(), "octree.bin": octree.octree.slice(0, 100) }) };
  await expect(loadOctreePoints(fakeService(short).client, CACHE_ID, { budget: 100 })).rejects.toThrow(
    /arrived as 100 bytes/,
  );
});

test("refuses nodes that share bytes", async () => {
  const octree = smallOctree();
  const bytes = octree.hierarchy.slice();
  new DataView(bytes.buffer).setBigInt64(22 + 6, 0n, true); // r0 starts where r starts
  const broken = { ...octree, files: () => ({ ...octree.files(), "hierarchy.bin": bytes }) };
  await expect(loadOctreePoints(fakeService(broken).client, CACHE_ID, { budget: 100 })).rejects.toThrow(/share byte 0/);
});
