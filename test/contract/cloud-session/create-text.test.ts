import { describe, expect, test } from "vitest";
import { create, createError, rowsOf, scanFile } from "../../support/app/app.ts";
import { octreeValues } from "../../support/octree/octree-folder.ts";
import { numbersOf } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const text = (rows: readonly string[], extension?: string) => scanFile(made, rows, extension);
const extras = async (id: string) => (await made.deps.sessions.get(id)).state.meta.extra_dims_meta;
const dtype = async (id: string, key: string) =>
  (await made.deps.sessions.get(id)).state.columns.get(key)?.native.dtype;
const plan = (columns: readonly object[], more: object = {}) => ({ column_plan: { columns, ...more } });
const XYZ = ["x", "y", "z"].map((role, index) => ({ index, role }));

test("intensities of any range are stored in 16 bits with the units that give them back", async () => {
  const given = [200, 1350, 4000];
  const { session_id } = await create(made, text(["x y z intensity", ...given.map((value, i) => `${i} 0 0 ${value}`)]));
  const { meta, columns } = (await made.deps.sessions.get(session_id)).state;
  const { divisor, offset } = meta.intensity_units ?? { divisor: Number.NaN, offset: Number.NaN };
  const stored = columns.get("intensity")?.native;
  const back = numbersOf(stored as NonNullable<typeof stored>).map((value) => value / divisor + offset);
  expect(back.map(Math.round)).toEqual(given);
});

describe("sources of the layout", () => {
  const rows = ["a b c d", "1 2 3 4", "5 6 7 8"];
  test("a plan takes precedence over the legend, the legend over the header, the header over positions", async () => {
    const header = text(["z y x d", "1 2 3 4", "5 6 7 9"]);
    const first = async (wishes: object) => {
      const tail = await create(made, header, wishes);
      const [row] = await rowsOf(made, tail.session_id);
      return [row?.X, row?.Y, row?.Z, ...(await extras(tail.session_id)).map(({ slug }) => slug)];
    };
    expect(await first({})).toEqual([3, 2, 1, "d"]);
    expect(await first({ ascii_format: "x y z height_of_things" })).toEqual([1, 2, 3, "height_of_things"]);
    const columns = [
      ...["y", "x", "z"].map((role, index) => ({ index, role })),
      { index: 3, role: "extra", slug: "mine" },
    ];
    expect(await first({ ascii_format: "x y z d", ...plan(columns) })).toEqual([2, 1, 3, "mine"]);
    expect(await first(plan(columns.slice(0, 3)))).toEqual([2, 1, 3]);
  });

  test("a legend or plan without z is rejected with the file and the axis", async () => {
    expect(await createError(made, text(rows), { ascii_format: "x y" })).toMatch(
      /\.txt: the legend must include x, y, and z; z is missing/,
    );
    expect(await createError(made, text(rows), plan(XYZ.slice(0, 2)))).toMatch(
      /\.txt: the plan must include x, y, and z; z is missing/,
    );
  });

  test("plan and legend apply to text files only: a PLY keeps its own layout", async () => {
    const ply =
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n";
    const tail = await create(made, made.file("layout.ply", ply), {
      ascii_format: "z y x",
      ...plan([...XYZ].reverse()),
    });
    expect(tail.tight_bounds?.min).toEqual([1, 2, 3]);
    expect(tail.warnings).toEqual([expect.stringMatching(/^column_plan and ascii_format: for text files only/)]);
  });

  test("a planned column that no row has is rejected with the file name", async () => {
    expect(await createError(made, text(["1 2 3", "4 5 6"]), plan([...XYZ, { index: 9, role: "intensity" }]))).toMatch(
      /\.txt.*(10 columns|column)/,
    );
  });
});

test("an id of 2^53 is listed and passes the schema; larger ones would not be exact and list nothing", async () => {
  const rows = ["x y z tree_instance", "1 2 3 9007199254740992", "5 6 7 4"];
  expect((await create(made, text(rows))).observed_classes).toEqual({ tree_instance: [4, 9007199254740992] });
  const beyond = ["x y z tree_instance", "1 2 3 9007199254740994", "5 6 7 4"];
  expect((await create(made, text(beyond))).observed_classes).toEqual({});
});

describe("roles of a plan", () => {
  test("each role is stored in its column", async () => {
    const roles = [
      "x",
      "y",
      "z",
      "r",
      "g",
      "b",
      "intensity",
      "timestamp",
      "target_index",
      "row_index",
      "deviation",
      "skip",
    ];
    const file = text(["1 2 3 255 128 0 7 350000000.25 1 5 0.5 9", "2 3 4 0 0 255 9 350000000.5 2 6 1.5 9"]);
    const tail = await create(made, file, plan(roles.map((role, index) => ({ index, role }))));
    expect(await extras(tail.session_id)).toEqual([
      { slug: "target_index", label: "Target Index" },
      { slug: "row_index", label: "Row Index" },
      { slug: "deviation", label: "deviation" },
    ]);
    expect(octreeValues(made.octrees, tail.cache_id, "rgb")).toEqual(
      [0, 0, 0, 128 * 256, 255 * 256, 255 * 256].sort((a, b) => a - b),
    );
    expect(octreeValues(made.octrees, tail.cache_id, "intensity")).toEqual([0, 65535]);
    expect(octreeValues(made.octrees, tail.cache_id, "gps-time")).toEqual([350000000.25, 350000000.5]);
    expect(await dtype(tail.session_id, "extra/target_index")).toBe("u8");
    expect(tail).not.toHaveProperty("gps_time_encoding");
  });

  test("rgb_is_255 false: 0..1 scale; the r255 roles stay 0..255", async () => {
    const file = text(["0 0 0 1 0.5 0", "1 1 1 0 0 0"]);
    const rgb = (suffix: string) =>
      plan([...XYZ, ...["r", "g", "b"].map((c, i) => ({ index: 3 + i, role: c + suffix }))], { rgb_is_255: false });
    const unit = await create(made, file, rgb(""));
    expect(octreeValues(made.octrees, unit.cache_id, "rgb").slice(-2)).toEqual([Math.round(0.5 * 65535), 65535]);
    const byte = await create(made, file, rgb("255"));
    expect(octreeValues(made.octrees, byte.cache_id, "rgb").at(-1)).toBe(256);
  });

  test("an extra with the name of a standard column becomes that column, unless an echo column is marked categorical", async () => {
    const file = text(["0 0 0 1 4 0", "1 1 1 2 5 0"]);
    const columns = [
      ...XYZ,
      { index: 3, role: "extra", slug: "ReturnNumber", label: "My echo" },
      { index: 4, role: "extra", label: "Scan Row", categorical: true },
    ];
    const pinned = await create(made, file, plan(columns));
    expect(await extras(pinned.session_id)).toEqual([
      { slug: "target_index", label: "Target Index" },
      { slug: "row_index", label: "Row Index" },
    ]);
    const free = await create(
      made,
      file,
      plan([...XYZ, { index: 3, role: "extra", slug: "target_index", label: "Wood class", categorical: true }]),
    );
    expect(await extras(free.session_id)).toEqual([{ slug: "Wood_class", label: "Wood class" }]);
    expect(free.observed_classes).toEqual({ Wood_class: [1, 2] });
  });

  test("skipped columns and extras without slug and label are omitted", async () => {
    const columns = [...XYZ, { index: 3, role: "extra" }, { index: 4, role: "SKIP", label: "no" }];
    expect(await extras((await create(made, text(["0 0 0 1 2"]), plan(columns))).session_id)).toEqual([]);
  });

  test("origins need all three columns; slugs are cut to 32 characters, avoid LAS names and are numbered", async () => {
    const long = "A very long column name [unit/second] indeed";
    const columns = [
      ...XYZ,
      { index: 3, role: "extra", label: long },
      { index: 4, role: "extra", slug: "Classification" },
      { index: 5, role: "extra", slug: "twice" },
      { index: 6, role: "extra", slug: "Twice" },
      { index: 7, role: "origin_x" },
    ];
    const tail = await create(made, text(["0 0 0 1 2 3 4 5"]), plan(columns));
    const slugs = (await extras(tail.session_id)).map(({ slug }) => slug);
    expect(slugs).toEqual([
      expect.stringMatching(/^A_very_long_column_name_unit_s\w*$/),
      "Classification_field",
      "twice",
      "Twice_2",
      "origin_x",
    ]);
    expect(slugs[0]?.length).toBeLessThanOrEqual(32);
  });
});

describe("values", () => {
  test("whole numbers get the narrowest exact type, others float; NaN is kept; nx stays float", async () => {
    const rows = ["x y z small neg big real gap nx", "0 0 0 255 -1 70000 0.1 1 0", "1 0 0 0 5 1 2.5 nan 1"];
    const tail = await create(made, text(rows));
    const types = Object.fromEntries(
      await Promise.all(
        ["small", "neg", "big", "real", "gap", "nx"].map(async (slug) => [
          slug,
          await dtype(tail.session_id, `extra/${slug}`),
        ]),
      ),
    );
    expect(types).toMatchObject({ small: "u8", neg: "i8", big: "u32", nx: "f32" });
    expect(["f32", "f64"]).toContain(types.real);
    expect((await rowsOf(made, tail.session_id, ["gap", "big"])).map(({ gap, big }) => [gap, big])).toEqual([
      [1, 70000],
      [Number.NaN, 1],
    ]);
  });

  test("rows without finite x, y, z are dropped, counted and excluded from all extents", async () => {
    const tail = await create(made, text(["x y z", "0 0 0", "nan 1 1", "1 1 inf", "1 2 3", "a b c", "9 9"]));
    expect(tail).toMatchObject({ total_count: 2, point_count: 2, tight_bounds: { min: [0, 0, 0], max: [1, 2, 3] } });
    const said = tail.warnings?.join(" ") ?? "";
    expect(said).toMatch(/\b2\b.*(NaN|finite|infinite)/i);
  });

  test("intensity is mapped from its whole range: signed decibels, no span, nothing finite", async () => {
    const values = async (numbers: readonly string[]) => {
      const tail = await create(made, text(["x y z intensity", ...numbers.map((value, i) => `${i} 0 0 ${value}`)]));
      return octreeValues(made.octrees, tail.cache_id, "intensity");
    };
    expect(await values(["-30", "-10", "-20"])).toEqual([0, 32768, 65535]);
    expect(await values(["5", "5"])).toEqual([0, 0]);
    expect(await values(["nan", "1", "3"])).toEqual([0, 0, 65535]);
  });

  test("with intensity and reflectance, the first is the display channel and the other a separate column", async () => {
    const tail = await create(made, text(["x y z Reflectance[dB] intensity", "0 0 0 -5.5 1", "1 0 0 -2.5 2"]));
    expect(await extras(tail.session_id)).toEqual([{ slug: "Reflectance_dB", label: "Reflectance [dB]" }]);
    const { robust_attribute_ranges } = tail;
    expect(robust_attribute_ranges?.Reflectance_dB?.[0]).toBeLessThan(-2.5);
  });

  test("times are kept as float64, even if they are all equal", async () => {
    const tail = await create(made, text(["x y z time", "0 0 0 350000000.125", "1 0 0 350000000.125"]));
    expect(octreeValues(made.octrees, tail.cache_id, "gps-time")).toEqual([350000000.125, 350000000.125]);
  });

  test("coordinates keep all digits of the file", async () => {
    const tail = await create(made, text(["500000.123456789 5400000.987654321 1e-9", "500001 5400001 1"]));
    const positions = (await made.deps.sessions.get(tail.session_id)).state.columns.get("positions")?.native;
    const bytes = new Uint8Array(48);
    positions?.readInto(bytes, 0);
    expect(Array.from(new Float64Array(bytes.buffer)).slice(0, 3)).toEqual([500000.123456789, 5400000.987654321, 1e-9]);
  });
});

describe("files", () => {
  test("a point count at the top that differs from the number of rows causes a warning", async () => {
    expect(await create(made, text(["2", "1 2 3", "4 5 6"], "pts"))).not.toHaveProperty("warnings");
    const tail = await create(made, text(["3", "1 2 3", "4 5 6"], "pts"));
    expect(tail.warnings).toEqual(["The file declares 3 points but contains 2; it may be incomplete."]);
  });

  test.each(["xyz", "txt", "csv", "pts", "asc", "TXT"])("extension %s", async (extension) => {
    expect((await create(made, text(["1 2 3", "4 5 6"], extension))).total_count).toBe(2);
  });

  test.each<[string, string, number | RegExp]>([
    ["commas and CRLF", "x,y,z\r\n1,2,3\r\n4,5,6\r\n", 2],
    ["semicolons and decimal commas", "1,5;2,5;3,5\n4,5;5,5;6,5\n", 2],
    ["tabs, no end of line at the end", "1\t2\t3\n4\t5\t6", 2],
    ["byte order mark", "\uFEFFx y z\n1 2 3\n", 1],
    ["comments and blank lines", "# by hand\n\n// x y z\n1 2 3\n# more\n4 5 6\n", 2],
    ["a count line", "2\n1 2 3\n4 5 6\n", 2],
    ["one point", "1 2 3\n", 1],
    ["empty", "", /no data rows/],
    ["only a header", "x y z\n", /no data rows/],
    ["prose", "Lorem ipsum dolor\nsit amet consectetur\n", /.+/],
    ["two columns", "1 2\n3 4\n", /x, y and z need three/],
    ["only rows without numbers", "x y z\nnan nan nan\n", /.+/],
  ])("%s", async (_name, content, expected) => {
    const name = "text.txt";
    if (typeof expected === "number") expect((await create(made, made.file(name, content))).total_count).toBe(expected);
    else {
      const said = await createError(made, made.file(name, content));
      expect(said).toMatch(expected);
      expect(said).toContain(name);
    }
  });
});

describe("what other programs write", () => {
  test("colours with decimals and a PTS file without a count", async () => {
    const colored = async (row: string, extension?: string) => {
      const tail = await create(made, text([row, row.replace("1.5", "2.5")], extension));
      return { rgb: octreeValues(made.octrees, tail.cache_id, "rgb"), extras: await extras(tail.session_id) };
    };
    const rgb = [0, 0, 17, 17, 255, 255].map((value) => value * 256);
    expect(await colored("1.5 2 3 255.000000 0.000000 17.000000")).toEqual({ rgb, extras: [] });
    expect(await colored("1.5 2 3 -1035 255 0 17", "xyz")).toEqual({ rgb, extras: [] });
    expect(await colored("1.5 2 3 100 255 0 17", "pts")).toEqual({ rgb, extras: [] });
  });

  test.each(["txt", "ply"])("%s: an incomplete beam origin or colour keeps its names", async (extension) => {
    const names = ["x", "y", "z", "ox", "oy", "red", "green"];
    const rows = ["1 2 3 4 5 6 7", "2 2 3 5 5 7 7"];
    const head =
      extension === "txt"
        ? [names.join(" ")]
        : [
            ...["ply", "format ascii 1.0", "element vertex 2"],
            ...names.map((name) => `property float ${name}`),
            "end_header",
          ];
    const tail = await create(made, text([...head, ...rows], extension));
    const slugs = (await extras(tail.session_id)).map(({ slug, label }) => [slug, label]);
    expect(slugs).toEqual([
      ["ox", "ox"],
      ["oy", "oy"],
      ["red_field", "red"],
      ["green_field", "green"],
    ]);
    const dropped = await create(made, text([...head, ...rows], extension), { drop_slugs: ["oy"] });
    expect((await extras(dropped.session_id))[0]?.slug).toBe("ox");
  });

  test("dropping one coordinate of a beam origin leaves the others under their own names", async () => {
    const tail = await create(made, text(["x y z ox oy oz", "1 2 3 4 5 6", "2 2 3 4 5 6"]), {
      drop_slugs: ["origin_z"],
    });
    expect((await extras(tail.session_id)).map(({ slug }) => slug)).toEqual(["ox", "oy"]);
  });
});
