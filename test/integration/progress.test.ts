import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../support/app/app.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";
import { gridPoints } from "../support/session/dem.ts";
import { lineCloud, slab } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

type Stages = readonly (readonly [number | null, string])[];

const made = sessionTest({ closeSessions: "at the end" });
const scan = made.shared(bigLasBytes(60_000));
const url = (action: string) => `/api/cloud/session/${scan.session_id}/${action}`;

const OCTREE = (from: number, to: number): Stages => {
  const at = (fraction: number) => Math.round((from + (to - from) * fraction) * 1e4) / 1e4;
  return [
    [at(0), "Hashing point data"],
    [at(0.2), "Building octree"],
    [at(1), "Reading octree metadata"],
  ];
};
/** Labels that may come between: phases of a build that is not in the cache, the compaction of the journal. */
const BETWEEN =
  /^(Waiting for another edit of this cloud|Counting points|Sorting points|Sampling octree|Writing octree|Installing octree|Formatting points)$/;

/** The fractions rise, and each label of the contract comes first at its fraction, in order and without others. */
async function expectStages(path: string, payload: object, stages: Stages): Promise<void> {
  const { markers, outcome } = await run(made, path, payload);
  expect(["json", "frame"]).toContain(outcome.kind);
  if (outcome.kind === "frame") expect(outcome.frame.meta.success).toBe(true);
  const fractions = markers.flatMap(({ progress }) => (progress === null ? [] : [progress]));
  expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  const shown = markers.slice(1).filter(({ message }) => !BETWEEN.test(message));
  const first = shown.filter(({ message }, i) => shown.findIndex((other) => other.message === message) === i);
  expect(first.map(({ progress, message }) => [progress, message])).toEqual(stages);
}

const DTM: Stages = [
  [0.05, "Extracting ground points (CSF)"],
  [0.15, "Gridding terrain (DTM)"],
  [0.55, "Computing layers"],
  [0.95, "Packing DEM"],
];
const DSM: Stages = [
  [0.2, "Binning ground points"],
  [0.5, "Interpolating elevation grid"],
  [0.75, "Building surface mesh"],
  [0.95, "Packing DEM"],
];
const CHM: Stages = [
  [0.05, "Extracting ground points (CSF)"],
  [0.15, "Gridding ground (DTM)"],
  [0.55, "Gridding surface (DSM)"],
  [0.8, "Subtracting DSM − DTM"],
  [0.95, "Packing DEM"],
];

describe("progress of the streamed routes", () => {
  const points = gridPoints(40, 40, (x, y) => 0.1 * x + Math.sin(y));
  describe.each([
    ["dtm", DTM],
    ["dsm", DSM],
    ["chm", CHM],
  ] as const)("%s", (surface_type, stages) => {
    test("of a session", () => expectStages(url("dem"), { surface_type, cell_size: 2 }, stages));
    test("of a source", () =>
      expectStages("/api/dem", { source: { session_id: scan.session_id }, surface_type, cell_size: 2 }, stages));
    test("of inline points", () => expectStages("/api/dem", { points, surface_type, cell_size: 2 }, stages));
  });

  test("a DTM with a height column", () =>
    expectStages(url("dem"), { surface_type: "dtm", cell_size: 2, add_height_column: true }, [
      ...DTM,
      [0.97, "Rebuilding display"],
      ...OCTREE(0.97, 1),
    ]));

  test("create", () =>
    expectStages("/api/cloud/session/create", { source_path: made.file("other.las", bigLasBytes(50_000, 2)) }, [
      [0.02, "Reading source file"],
      [0.25, "Loading points into memory"],
      [0.45, "Detecting sky/miss points"],
      [0.52, "Computing bounds"],
      [0.58, "Writing octree source"],
      ...OCTREE(0.62, 0.9),
      [0.92, "Building miss overlay"],
      [1, "Finalizing"],
    ]));

  test.each(["laz", "las", "csv", "ply", "pts", "pcd", "e57"])("export as %s", (format) =>
    expectStages(
      "/api/pointcloud/export",
      {
        source: { session_id: scan.session_id },
        format,
        dest_path: join(mkdtempSync(join(made.folder, "out-")), `a.${format}`),
      },
      [
        [0.05, "Writing points"],
        [1, "Finalizing"],
      ],
    ),
  );

  test("bake, commit_labels and extract_by_column", async () => {
    const { session_id } = await lineCloud(made, [1, 1, 2, 2, 2]);
    const of = (action: string) => `/api/cloud/session/${session_id}/${action}`;
    const strokes = [{ stroke_id: "a", region: slab(0, 1), to_class: 1 }];
    await made.post(session_id, "label_region", { slug: "part", label: "Part", strokes });
    await expectStages(of("commit_labels"), { slug: "part" }, OCTREE(0, 1));
    await made.remove(session_id, 4, 4);
    await expectStages(of("bake"), {}, [
      [0, "Hashing point data"],
      [0.153, "Building octree"],
      [0.765, "Reading octree metadata"],
      [0.85, "Dropping deleted points"],
    ]);
    await expectStages(of("extract_by_column"), { slug: "class" }, [
      [null, "Slicing clouds"],
      [0, "Building 0 of 2 clouds"],
      [0.5, "Building 1 of 2 clouds"],
      [1, "Building 2 of 2 clouds"],
    ]);
  });
});
