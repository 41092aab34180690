// Flat requests use all points of a session: those that it labels as noise are told.
import { beforeAll, expect, test } from "vitest";
import { type Client, createClient } from "../../shared/client/index.ts";
import { cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
let client: Client;
beforeAll(() => {
  client = createClient({ baseUrl: made.base });
});

const TOLD =
  "1 point that is labelled as noise (noise_class 2, LAS classes 7 and 18) takes part here; delete it first if it should not.";

const FLOOR = { mesh_vertices: [0, 0, 0, 10, 0, 0, 10, 10, 0, 0, 10, 0], mesh_indices: [0, 1, 2, 0, 2, 3] };

type Source = { readonly session_id: string };
const RUNS: Readonly<Record<string, (source: Source) => Promise<unknown>>> = {
  dem: async (source) => (await client.dem({ source, cell_size: 1 })).meta.warnings,
  ground: async (source) => (await client.segmentGround({ source })).warnings,
  trees: async (source) => (await client.segmentTrees({ source, method: "chm" })).warnings,
  qsm: async (source) => (await client.buildQsm({ source })).warnings,
  surface: async (source) => (await client.triangulate({ source, method: "delaunay" })).meta.warnings,
  wood: async (source) => (await client.segmentWood({ source, method: "geometric" })).warnings,
  "wood of two": async (source) =>
    (await client.segmentWood({ sources: [source, await clean()], method: "geometric" })).warnings,
  skeleton: async (source) => (await client.extractSkeleton({ source })).warnings,
  distance: async (source) => (await client.meshDistance({ source, ...FLOOR })).warnings,
  "mesh onto cloud": async (source) => (await client.meshRegister({ source, ...FLOOR })).warnings,
  "cloud onto cloud": async (source) =>
    (await client.cloudRegister({ target_source: await clean(), source_source: source })).warnings,
  crown: async (source) => (await client.fitCrown({ source, shape: "prism" })).warnings,
};

/** A thick stem on a floor, and a point above it. */
const rows = [
  ...Array.from({ length: 1600 }, (_, i) => [(i % 40) / 4, Math.floor(i / 40) / 4, 0]),
  ...Array.from({ length: 1500 }, (_, i) => [5 + 0.2 * Math.cos(i), 5 + 0.2 * Math.sin(i), i / 250]),
].map((p) => `${p.map((v) => v.toFixed(3)).join(" ")} 1`);

/** The same without noise. */
const clean = async (): Promise<Source> => ({
  session_id: (await cloud(made, ["x y z noise_class", ...rows])).session_id,
});

test.each(Object.keys(RUNS))("%s", async (name) => {
  const { session_id } = await cloud(made, ["x y z noise_class", ...rows, "5 5 9 2"]);
  const warnings = () => RUNS[name]?.({ session_id });
  expect(await warnings()).toContain(TOLD);
  await made.post(session_id, "delete_region", { region: { kind: "box", min: [0, 0, 8], max: [10, 10, 10] } });
  expect(((await warnings()) as readonly string[] | undefined)?.join() ?? "").not.toContain("labelled as noise");
});
