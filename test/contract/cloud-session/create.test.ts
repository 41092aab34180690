import { describe, expect, test } from "vitest";
import { type CreateSessionRequest, SOURCE_UNITS } from "../../../shared/contract/cloud-session/create.ts";
import { create, createError, refused, rowsOf, run } from "../../support/app/app.ts";
import { stateOf } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const CREATE = "/api/cloud/session/create";
const made = sessionTest();
const text = (name: string, rows: readonly string[]) => made.file(name, `${rows.join("\n")}\n`);
const position = async (id: string) => (await rowsOf(made, id)).map(({ X = 0, Y = 0, Z = 0 }) => [X, Y, Z]);

describe("the stream", () => {
  test("run_id first, the stages of the contract in order, fractions that never decrease, then the tail", async () => {
    const { markers, outcome } = await run(made, CREATE, { source_path: text("stages.xyz", ["0 0 0", "1 2 3"]) });
    expect(markers[0]).toEqual({ progress: null, message: "", run_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(outcome.kind).toBe("json");
    const labels = markers.map(({ message }) => message).filter((label, i, all) => label !== all[i - 1]);
    const stages = [
      "Reading source file",
      "Loading points into memory",
      "Detecting sky/miss points",
      "Computing bounds",
    ];
    const octree = ["Writing octree source", "Hashing point data", "Building octree", "Installing octree"];
    const shown = [...stages, ...octree, "Reading octree metadata", "Building miss overlay", "Finalizing"];
    expect(labels.filter((label) => shown.includes(label))).toEqual(shown);
    const fractions = markers.flatMap(({ progress }) => (progress === null ? [] : [progress]));
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect([fractions[0], fractions.at(-1)]).toEqual([0.02, 1]);
  });

  test("the client's example: the six fields, nulls included", async () => {
    const example = {
      ascii_format: null,
      column_plan: null,
      world_shift: null,
      miss_distance_threshold: null,
      origin: null,
    };
    const tail = await create(made, text("example.xyz", ["0 0 0", "1 0 0", "0 1 0"]), example);
    expect(tail).toMatchObject({
      session_id: expect.stringMatching(/^[0-9a-f]{8}$/),
      point_count: 3,
      total_count: 3,
      world_shift: null,
      source_units: null,
      source_unit_scale: null,
      has_misses: false,
      miss_slug: "is_miss",
      miss_octree_cache_id: null,
      version: "2.0",
    });
    for (const absent of [
      "miss_count",
      "autodetected_misses",
      "scan_origin",
      "scan_params",
      "gps_time_encoding",
      "warnings",
    ]) {
      expect(tail).not.toHaveProperty(absent);
    }
    expect(tail.cache_dir).toContain(tail.cache_id);
  });

  test("unknown keys are ignored and named in the warnings", async () => {
    const tail = await create(made, text("keys.xyz", ["0 0 0"]), { world_shfit: [1, 2, 3], colour: true });
    expect(tail.world_shift).toBeNull();
    expect(tail.warnings).toEqual([expect.stringMatching(/"world_shfit", "colour"/)]);
  });
});

describe("requests rejected before the stream", () => {
  test.each<[string, Partial<CreateSessionRequest> | object, number, RegExp]>([
    ["missing file", { source_path: "/nowhere/cloud.las" }, 404, /File not found: \/nowhere\/cloud\.las/],
    ["relative path", { source_path: "cloud.las" }, 400, /"cloud\.las" is not an absolute path/],
    ["a folder", { source_path: "/" }, 400, /is not a regular file/],
    ["a device", { source_path: "/dev/zero" }, 400, /is not a regular file/],
    ["NUL in the path", { source_path: "/a\0.las" }, 400, /NUL/],
    ["no source_path", {}, 422, /source_path/],
    ["wrong type", { source_path: 7 }, 422, /source_path/],
    ["threshold of zero", { source_path: "/x.las", miss_distance_threshold: 0 }, 422, /miss_distance_threshold/],
  ])("%s", async (_name, payload, status, sentence) => {
    const answer = await refused(made, CREATE, payload);
    expect(answer.status).toBe(status);
    expect(typeof answer.detail === "string" ? answer.detail : answer.message).toMatch(sentence);
  });

  test.each([
    ["cloud.docx", /"\.docx" is not a point cloud format; use one of xyz, txt/],
    ["cloud", /the extension "" is not a point cloud format/],
  ])("%s: 400 naming the extension", async (name, sentence) => {
    const answer = await refused(made, CREATE, { source_path: made.file(name, "1 2 3\n") });
    expect([answer.status, answer.detail]).toEqual([400, expect.stringMatching(sentence)]);
  });

  test("a plan with a duplicate role: 422 that names both columns", async () => {
    const columns = [0, 1, 2, 5].map((index, i) => ({ index, role: ["x", "y", "z", "X"][i] }));
    const answer = await refused(made, CREATE, { source_path: text("twice.xyz", ["1 2 3"]), column_plan: { columns } });
    expect([answer.status, answer.message]).toEqual([
      422,
      expect.stringMatching(/role "x" is given to columns 0 and 5/),
    ]);
  });

  test.each<[string, object, RegExp]>([
    ["origin of two numbers", { origin: [1, 2] }, /origin must be three finite numbers, not \[1, 2\]/],
    ["unknown unit", { source_units: "furlong" }, /source_units "furlong" is not one of m, km, cm, mm, ft, ftUS, in/],
    ["unit of Object", { source_units: "constructor" }, /"constructor" is not one of/],
    ["second scan of a single-scan file", { scan_index: 1 }, /scan_index 1: .* contains one scan, with index 0/],
    [
      "unknown role",
      { role_overrides: { a: "hight" } },
      /role_overrides\.a: "hight" cannot be assigned here, it is not a role/,
    ],
    [
      "another x",
      { role_overrides: { a: "x" } },
      /role_overrides\.a: "x" cannot be assigned here, positions always come from the file/,
    ],
  ])("%s: 400", async (_name, wishes, sentence) => {
    const answer = await refused(made, CREATE, { source_path: text("wish.xyz", ["1 2 3"]), ...wishes });
    expect([answer.status, answer.detail]).toEqual([400, expect.stringMatching(sentence)]);
  });
});

describe("requests rejected inside the stream", () => {
  test("a world_shift of the wrong length is reported in the tail", async () => {
    expect(await createError(made, text("shift.xyz", ["1 2 3"]), { world_shift: [1, 2] })).toMatch(
      /world_shift must be three finite numbers, not \[1, 2\]/,
    );
  });
  test("a broken file: error marker, JSON tail with the same text, and no leftovers", async () => {
    const before = made.deps.sessions.list().length;
    const { markers, outcome } = await run(made, CREATE, {
      source_path: made.file("broken.las", "LASF but not really"),
    });
    expect(outcome).toMatchObject({
      kind: "failed",
      code: "invalid_file",
      error: expect.stringContaining("broken.las"),
    });
    expect(markers.at(-1)).toMatchObject({ progress: null, error: expect.stringContaining("broken.las") });
    expect(outcome.kind === "failed" && outcome.tail).toMatchObject({ success: false, error: markers.at(-1)?.error });
    expect(made.deps.sessions.list()).toHaveLength(before);
  });
});

describe("world shift and units", () => {
  test("the shift is subtracted from points and added again on export; zeros mean no shift", async () => {
    const file = text("utm.xyz", ["500000.125 5400000.25 100", "500001.125 5400002.25 101"]);
    const tail = await create(made, file, { world_shift: [500000, 5400000, 0] });
    expect(tail.world_shift).toEqual([500000, 5400000, 0]);
    expect(tail.tight_bounds).toEqual({ min: [0.125, 0.25, 100], max: [1.125, 2.25, 101] });
    expect(await position(tail.session_id)).toEqual([
      [500000.125, 5400000.25, 100],
      [500001.125, 5400002.25, 101],
    ]);
    expect((await create(made, file, { world_shift: [0, 0, 0] })).world_shift).toBeNull();
  });

  test.each(Object.entries(SOURCE_UNITS))(
    "units %s: %s m each, scaled before the shift, also the origin",
    async (unit, metres) => {
      const file = text(`${unit}.xyz`, ["100 200 300", "101 202 303"]);
      const scanner = { origin: [10, 20, 30], miss_distance_threshold: 1e9 };
      const tail = await create(made, file, { source_units: unit, world_shift: [1, 2, 3], ...scanner });
      expect([tail.source_units, tail.source_unit_scale]).toEqual([unit, metres]);
      const min = tail.tight_bounds?.min ?? [];
      // The octree keeps millimetres: half a step.
      for (const [axis, value] of [100, 200, 300].entries()) {
        expect(Math.abs((min[axis] ?? Number.NaN) - (value * metres - (axis + 1)))).toBeLessThanOrEqual(0.0005 + 1e-9);
      }
      const { meta } = await stateOf(made, tail.session_id);
      expect(meta.miss_octree_origin).toEqual([10 * metres - 1, 20 * metres - 2, 30 * metres - 3]);
    },
  );
});
