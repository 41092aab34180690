import { expect, test } from "vitest";
import { failedScanMesh, scanMesh, wall } from "../support/session/scan-triangulation.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const FAR = /has its origin/;
const scan = (origin: readonly number[]) => ({ origin, points: wall(4) }); // 4 m x 4 m, 0.4 m apart
const far = (warnings: readonly string[] | undefined) => (warnings ?? []).filter((text) => FAR.test(text));

test("an origin far from the hits is told, by the number of its scan", async () => {
  const scans = [scan([0, 0, 0]), scan([0, -3000, 0])];
  const { meta } = await scanMesh(made, { scans, lmax: 0.6 });
  expect(far(meta.warnings)).toEqual([expect.stringContaining("Scan 2 has its origin, 0, -3000, 0, 30")]);
  expect(far((await scanMesh(made, { scans: scans.slice(0, 1), lmax: 0.6 })).meta.warnings)).toEqual([]);
});

test("also where nothing is left of the mesh, which may be why", async () => {
  const meta = await failedScanMesh(made, { scans: [scan([0, -3000, 0])], lmax: 1e-4 });
  expect(far(meta.warnings)).toHaveLength(1);
});
