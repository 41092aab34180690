import { existsSync } from "node:fs";
import { relative } from "node:path";
import { describe, expect, test } from "vitest";
import { PreviewResponse } from "../../shared/contract/pointcloud.ts";
import { create } from "../support/app/app.ts";
import { DATA, isQuick } from "../support/scans/data-folder.ts";
import { importableFiles } from "../support/scans/importable-files.ts";
import { sessionTest } from "../support/session/session-test.ts";

/** A preview promises what an import of the file does: the refusal, and otherwise every column with slug and label. */

const made = sessionTest();

type Column = PreviewResponse["columns"][number];

/** What an import of a file gave: the error, or the columns of the session. */
interface Imported {
  readonly error: string | null;
  readonly total_count: number;
  readonly warnings: readonly string[];
  /** Fixed columns: colors, intensity, timestamps, beam_origins. */
  readonly fixed: ReadonlySet<string>;
  /** slug -> label of the shown columns, and of the hidden ones. */
  readonly shown: ReadonlyMap<string, string>;
  readonly hidden: ReadonlyMap<string, string>;
  readonly constants: ReadonlySet<string>;
}

async function look(file_path: string): Promise<PreviewResponse> {
  const answer = await made.app.inject({ method: "POST", url: "/api/pointcloud/preview", payload: { file_path } });
  expect(answer.statusCode, answer.body).toBe(200);
  return PreviewResponse.parse(answer.json());
}

async function imported(file: string): Promise<Imported> {
  const nothing = { fixed: new Set<string>(), shown: new Map<string, string>(), hidden: new Map<string, string>() };
  try {
    const tail = await create(made, file);
    const { columns, meta } = (await made.deps.sessions.get(tail.session_id)).state;
    const labels = (hidden: boolean) =>
      new Map(meta.extra_dims_meta.filter((dim) => (dim.hidden ?? false) === hidden).map((d) => [d.slug, d.label]));
    const found = {
      error: null,
      total_count: tail.total_count,
      warnings: tail.warnings ?? [],
      fixed: new Set([...columns.keys()].filter((key) => !key.startsWith("extra/") && key !== "positions")),
      shown: labels(false),
      hidden: labels(true),
      constants: new Set((meta.constant_dimensions ?? []).map(({ name }) => name)),
    };
    await made.deps.sessions.delete(tail.session_id);
    return found;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...nothing, error: reason, total_count: 0, warnings: [], constants: new Set() };
  }
}

const FIXED: Readonly<Record<string, string>> = {
  r: "colors",
  g: "colors",
  b: "colors",
  r255: "colors",
  g255: "colors",
  b255: "colors",
  intensity: "intensity",
  timestamp: "timestamps",
  origin_x: "beam_origins",
  origin_y: "beam_origins",
  origin_z: "beam_origins",
};
/** Columns that an import assigns without asking. */
const ASSIGNED = ["is_miss", "beam_origins"];
const CHANNELS = ["r255", "g255", "b255"];

/** True if a previewed column became what its role, slug and label promise. */
function kept(column: Column, session: Imported, kind: string): boolean {
  const { detected_role: role, suggested_slug: slug, suggested_label: label } = column;
  if (["x", "y", "z", "skip"].includes(role)) return true;
  const fixed = FIXED[role];
  if (fixed !== undefined && session.fixed.has(fixed)) return true;
  if (session.shown.get(slug) === label || session.hidden.has(slug)) return true;
  if (kind !== "las" && kind !== "e57") return false;
  // A field with one value is a constant of the session; an intensity of zeros and the fields of no points are not.
  const field = CHANNELS.includes(role)
    ? "rgb"
    : ({ target_index: "return_number", target_count: "number_of_returns" }[role] ?? column.header_name ?? "");
  if (session.constants.has(field)) return true;
  return kind === "las" && (role === "intensity" || session.total_count === 0);
}

/** What differs between the preview and the import of a file; [] if they agree. */
async function differences(file: string): Promise<string[]> {
  const preview = await look(file);
  const session = await imported(file);
  const warning = preview.warning ?? "";
  if (session.error !== null) {
    const said = preview.columns.length === 0 || warning.includes("An import would be refused:");
    return said && warning.includes(session.error) ? [] : [`refused: ${session.error}; previewed: ${warning}`];
  }
  const wrong = preview.columns
    .filter((column) => !kept(column, session, preview.kind))
    .map((column) => `previewed and not imported: ${JSON.stringify(column)}`);
  const promised = new Set(preview.columns.map(({ suggested_slug }) => suggested_slug));
  const roles = new Set(
    preview.columns.map(({ detected_role: role }) => (role === "reflectance" ? "intensity" : role)),
  );
  const fixed = [...session.fixed].filter(
    (key) => !ASSIGNED.includes(key) && ![...roles].some((role) => FIXED[role] === key),
  );
  const extras = [...session.shown.keys()].filter((slug) => !ASSIGNED.includes(slug) && !promised.has(slug));
  const surplus = [...fixed, ...extras].map((key) => `imported and not previewed: ${key}`);
  const told = [...session.warnings].some((text) => warning.includes(text));
  const declared = preview.point_count ?? session.total_count;
  const count =
    declared === session.total_count || told ? [] : [`${declared} points declared, ${session.total_count} imported`];
  const refuses = /would be refused/.test(warning) ? [`imported, but the preview refuses: ${warning}`] : [];
  return [...wrong, ...surplus, ...count, ...refuses];
}

test.skipIf(!existsSync(DATA))("every file of the test data", { timeout: 300_000 }, async () => {
  const files = importableFiles(DATA).filter(isQuick);
  expect(files.length).toBeGreaterThan(200);
  const found: Record<string, string[]> = {};
  for (const file of files) {
    const different = await differences(file);
    if (different.length > 0) found[relative(DATA, file)] = different;
  }
  expect(found).toEqual({});
});

const ply = (properties: readonly string[], rows: readonly string[], declared = rows.length) =>
  [
    ...["ply", "format ascii 1.0", `element vertex ${declared}`],
    ...properties.map((name) => `property float ${name}`),
    ...["end_header", ...rows, ""],
  ].join("\n");
const ptx = (cells: readonly string[]) =>
  [`1\n${cells.length}\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1`, ...cells, ""].join("\n");
const XYZ = ["x", "y", "z"];

describe("files made to differ", () => {
  test.each([
    ["text.csv", "x,y,z,Name,Empty,Reflectance[dB],time,gps time\n1,2,3,oak,,-3,1,5\n2,3,4,elm,,-4,2,6\n"],
    ["both.csv", "x,y,z,intensity,Reflectance[dB]\n1,2,3,4,5\n2,3,4,5,6\n"],
    ["unnamed.xyz", "1.5 2 3 4 500 6\n2.5 2 3 4 500 6\n"],
    ["twice.xyz", "x y z a-b a+b red green\n1 2 3 4 5 6 7\n2 3 4 5 6 7 8\n"],
    ["graph.txt", "[('a', 1), ('b', 2)]\n[('c', 3), ('d', 4)]\n"],
    ["huge.xyz", "1e300 0 0\n-1e300 0 0\n"],
    ["late.xyz", `${"1 2 3 4\n".repeat(300)}1 2 3 oak\n`],
    [
      "names.ply",
      ply(
        [...XYZ, "time", "gps_time", "height", "reflectance", "ox", "oy", "red", "a_b", "scalar_a_b"],
        ["1 2 3 4 5 6 7 8 9 1 2 3", "2 2 3 5 5 6 8 8 9 1 2 3"],
      ),
    ],
    ["diffuse.ply", ply([...XYZ, "Diffuse_Red", "diffuse_green", "diffuse_blue"], ["1 2 3 4 5 6"])],
    [
      "miss.ply",
      ply([...XYZ, "sky", "miss", "origin_x", "origin_y", "origin_z"], ["1 2 3 0 1 4 5 6", "2 2 3 0 0 4 5 6"]),
    ],
    ["late-colors.ptx", ptx(["1 1 1 0.5", "2 2 2 0.5"]) + ptx(["1 1 1 0.5 255 0 0"])],
    ["empty.ply", ply(XYZ, [])],
    ["cut.ply", ply(XYZ, ["1 2 3"], 4)],
    [
      "packed.pcd",
      "VERSION 0.7\nFIELDS x y z rgba normal_x timestamp\nSIZE 4 4 4 4 4 4\nTYPE F F F U F F\nCOUNT 1 1 1 1 1 1\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA ascii\n1 2 3 0 5 6\n",
    ],
    [
      "cut.pcd",
      "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 3\nHEIGHT 1\nPOINTS 3\nDATA ascii\n1 2 3\n",
    ],
  ])("%s", async (name, content) => {
    expect(await differences(made.file(name, content))).toEqual([]);
  });
});
