import { describe, expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import { create, exported, rowsOf, scanFile } from "../../support/app/app.ts";
import { octreeValues } from "../../support/octree/octree-folder.ts";
import { bigLasBytes, type LasOptions, type LasRow, lasBytes } from "../../support/scans/las-bytes.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
/** A LAS file of points in a row along x, each with what `of` says. */
const las = (count: number, of: (i: number) => Partial<LasRow> = () => ({}), options: LasOptions = {}) => {
  const rows = Array.from({ length: count }, (_, i) => ({ x: i, y: 0, z: 0, ...of(i) }));
  return scanFile(made, lasBytes(rows, options));
};
const columns = async (id: string) => (await made.deps.sessions.get(id)).state.columns;
const slugs = async (id: string) =>
  (await made.deps.sessions.get(id)).state.meta.extra_dims_meta.map(({ slug }) => slug);

test("columns that the session does not keep are freed before the octree is built", async () => {
  const path = made.file("memory.las", bigLasBytes(20_000)); // positions and intensity vary
  const before = addon.bulkBytesInUse();
  const hash = addon.octreeContentHash;
  const used: number[] = [];
  addon.octreeContentHash = (...args) => {
    used.push(addon.bulkBytesInUse() - before);
    return hash(...args);
  };
  try {
    await create(made, path);
  } finally {
    addon.octreeContentHash = hash;
  }
  const pages = (bytes: number) => Math.ceil(bytes / 4096) * 4096;
  expect(used).toEqual([pages(24 * 20_000) + pages(2 * 20_000)]);
});

describe("standard dimensions", () => {
  test("echo columns are kept only if their values vary", async () => {
    const constant = await create(
      made,
      las(3, () => ({ return_number: 1, number_of_returns: 1 })),
    );
    expect(await slugs(constant.session_id)).toEqual([]);
    const varying = await create(
      made,
      las(4, (i) => ({ return_number: 1 + (i % 2), number_of_returns: i < 2 ? 2 : 3 })),
    );
    expect(await slugs(varying.session_id)).toEqual(["target_index", "target_count"]);
    expect((await rowsOf(made, varying.session_id, ["target_index"])).map((row) => row.target_index)).toEqual([
      1, 2, 1, 2,
    ]);
    expect(varying.observed_classes).toEqual({ target_index: [1, 2], target_count: [2, 3] });
  });

  test("other dimensions become las_<name> with the plain name as label; constant ones are omitted", async () => {
    const tail = await create(
      made,
      las(3, (i) => ({ classification: 2 + i })),
    );
    expect(await slugs(tail.session_id)).toEqual(["las_classification"]);
    expect(tail.attributes.find(({ name }) => name === "las_classification")).toMatchObject({
      label: "classification",
      type: "uint8",
    });
    expect(tail.observed_classes).toEqual({ las_classification: [2, 3, 4] });
  });

  test("a role override accepts the slug or the name in the file", async () => {
    const of = (i: number) => ({ classification: i, return_number: i });
    for (const name of ["las_classification", "classification"]) {
      const tail = await create(made, las(3, of), { role_overrides: { [name]: "row_index" } });
      expect(await slugs(tail.session_id)).toEqual(["target_index", "row_index"]);
      expect(tail).not.toHaveProperty("warnings");
    }
  });

  test("intensity is kept unchanged if any value is above zero", async () => {
    const tail = await create(
      made,
      las(3, (i) => ({ intensity: 1000 * i })),
    );
    expect(octreeValues(made.octrees, tail.cache_id, "intensity")).toEqual([0, 1000, 2000]);
    const zero = await create(made, las(3));
    expect((await columns(zero.session_id)).has("intensity")).toBe(false);
    const constant = await create(
      made,
      las(2, () => ({ intensity: 7 })),
    );
    expect(octreeValues(made.octrees, constant.cache_id, "intensity")).toEqual([7, 7]);
  });

  test("colour is kept unchanged if any channel is above zero", async () => {
    const tail = await create(
      made,
      las(2, (i) => ({ rgb: [0, 65535 * i, 300] })),
    );
    expect(octreeValues(made.octrees, tail.cache_id, "rgb")).toEqual([0, 0, 0, 300, 300, 65535]);
    expect((await columns((await create(made, las(2))).session_id)).has("colors")).toBe(false);
  });

  test.each([
    [1, "adjusted_standard", 0],
    [0, "gps_week", 1],
  ])("GPS time that varies, global encoding %s: %s", async (global_encoding, encoding, warnings) => {
    const tail = await create(
      made,
      las(3, (i) => ({ gps_time: 3.5e8 + i / 1024 }), { global_encoding }),
    );
    expect(tail.gps_time_encoding).toBe(encoding);
    expect(tail.warnings ?? []).toHaveLength(warnings);
    expect(octreeValues(made.octrees, tail.cache_id, "gps-time")).toEqual([3.5e8, 3.5e8 + 1 / 1024, 3.5e8 + 2 / 1024]);
  });

  test("constant GPS time is not imported as time", async () => {
    const tail = await create(
      made,
      las(3, () => ({ gps_time: 77 })),
    );
    expect(tail).not.toHaveProperty("gps_time_encoding");
    expect((await columns(tail.session_id)).has("timestamps")).toBe(false);
  });
});

describe("extra dimensions", () => {
  test("keep their own name and type, constant or not; the description is the label; a LAS name gets _field", async () => {
    const extras = [
      { name: "Amplitude", type: "f32", description: "Echo amplitude[dB]" },
      { name: "classification", type: "u8" },
      { name: "tree id", type: "i32" },
    ] as const;
    const of = (i: number) => ({ extra: { Amplitude: 1.5 * i, classification: 4, "tree id": -1 - i } });
    const tail = await create(made, las(3, of, { extras }));
    const dims = (await made.deps.sessions.get(tail.session_id)).state.meta.extra_dims_meta;
    expect(dims.map(({ slug, label, las_extra }) => [slug, label, las_extra?.record.name])).toEqual([
      ["Amplitude", "Echo amplitude [dB]", "Amplitude"],
      ["classification_field", "classification", "classification"],
      ["tree_id", "tree id", "tree id"],
    ]);
    const back = await rowsOf(made, tail.session_id, ["tree_id", "Amplitude"]);
    expect(back.map((row) => [row.tree_id, row.Amplitude])).toEqual([
      [-1, 0],
      [-2, 1.5],
      [-3, 3],
    ]);
  });

  test("beam origins with times become a trajectory in the true world, not extra columns", async () => {
    const extras = ["ox", "oy", "oz"].map((name) => ({ name, type: "f64" as const }));
    const of = (i: number) => ({ x: 500000, gps_time: 10 - i, extra: { ox: 500000 + i, oy: 20, oz: 100 + i } });
    const tail = await create(made, las(3, of, { extras }), { world_shift: [500000, 0, 0] });
    expect(await slugs(tail.session_id)).toEqual([]);
    const pose = (t: number, x: number, z: number) => ({ t, x, y: 20, z, qx: 0, qy: 0, qz: 0, qw: 1 });
    expect(tail.scan_params).toEqual({
      origin: [500002, 20, 102],
      trajectory: {
        poses: [pose(8, 500002, 102), pose(9, 500001, 101), pose(10, 500000, 100)],
        frame: { crs: null, up_axis: "z", body_convention: "FLU", time_ref: "gps" },
        lever_arm: [0, 0, 0],
        boresight_rpy: [0, 0, 0],
        source_format: "las_extrabytes",
      },
    });
    expect(tail).not.toHaveProperty("scan_origin");
  });

  test("beam origins without times are used, with a warning about the missing trajectory; an incomplete triple becomes extra columns", async () => {
    const extras = ["ox", "oy", "oz"].map((name) => ({ name, type: "f64" as const }));
    const tail = await create(
      made,
      las(3, (i) => ({ extra: { ox: i, oy: 0, oz: 0 } }), { extras }),
    );
    expect(tail.warnings).toEqual([expect.stringMatching(/beam origins have no usable times/)]);
    expect(tail).not.toHaveProperty("scan_params");
    const pair = await create(
      made,
      las(3, () => ({ extra: { ox: 5 } }), { extras: extras.slice(0, 2) }),
    );
    expect((await slugs(pair.session_id)).length).toBe(2);
    expect((await columns(pair.session_id)).has("beam_origins")).toBe(false);
  });
});

test("exporting an imported LAS file to LAS keeps its columns", async () => {
  const of = (i: number): Partial<LasRow> => ({
    y: 0.125 * i,
    intensity: 100 + i,
    return_number: 1 + (i % 3),
    number_of_returns: 3,
    classification: i % 6,
    gps_time: 1000 + i / 8,
    rgb: [i, 256 * i, 65535 - i],
    extra: { height: 0.5 * i },
  });
  const first = await create(made, las(20, of, { extras: [{ name: "height", type: "f32" }], global_encoding: 1 }));
  const again = await create(made, made.file("again.las", await exported(made, first.session_id, "las")));
  expect(await slugs(again.session_id)).toEqual(await slugs(first.session_id));
  expect(again.gps_time_encoding).toBe("adjusted_standard");
  expect(again.cache_id).toBe(first.cache_id); // the octree's name is a hash of every value
});
