// Roofs and wires in a canopy height model: their points count as canopy, which is told.
import { expect, test } from "vitest";
import { SessionDemMeta } from "../../../shared/contract/cloud-session/dem.ts";
import { dem, gridPoints } from "../../support/session/dem.ts";
import { cloud } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();

/** Flat ground of 12 m x 10 m, a tree's top, and a roof over 16 cells whose points have a class. */
async function town(slug: string, built: number): Promise<string> {
  const ground = gridPoints(12, 10, () => 0).map(([x, y, z]) => `${x} ${y} ${z} 1 2`);
  const roof = gridPoints(4, 4, () => 6).map(([x, y, z]) => `${x + 6} ${y + 4} ${z} 2 ${built}`);
  const { session_id } = await cloud(made, [`x y z ground_class ${slug}`, ...ground, "2.5 2.5 8 2 5", ...roof]);
  return session_id;
}

const surface = async (id: string, surface_type: string) => {
  const body = { cell_size: 1, surface_type };
  const url = `/api/cloud/session/${id}/dem`;
  const { meta, f32 } = await dem(made, url, body, SessionDemMeta as never);
  return { warnings: meta.warnings ?? [], heights: f32("grid_z") };
};
const TOLD =
  "16 points labelled as buildings, wires, towers or bridges (LAS classes 6 and 13 to 17) count as canopy, of 137 in all: heights over them are not those of plants. Delete or extract them first if only plants should count.";

test.each([6, 13, 14, 15, 16, 17])("points of LAS class %i count as canopy, which is told", async (built) => {
  const { warnings, heights } = await surface(await town("las_classification", built), "CHM");
  expect(warnings).toContain(TOLD);
  expect([...heights].filter((z) => z > 5)).toHaveLength(17);
});

test.each([
  ["las_classification", 1, "chm"],
  ["user_class", 6, "chm"],
  ["las_classification", 6, "dtm"],
  ["las_classification", 6, "dsm"],
])("nothing is told of a roof in %s as %i in a %s", async (slug, built, type) => {
  expect((await surface(await town(slug, built), type)).warnings.join()).not.toContain("as canopy");
});

test("what is deleted counts no more", async () => {
  const id = await town("las_classification", 6);
  await made.post(id, "delete_region", { region: { kind: "box", min: [6, 4, 5], max: [12, 10, 7] } });
  const { warnings, heights } = await surface(id, "chm");
  expect(warnings.join()).not.toContain("as canopy");
  expect([...heights].filter((z) => z > 5)).toHaveLength(1);
});

test("a source that flat requests name is looked at, too", async () => {
  const source = { session_id: await town("las_classification", 6) };
  const told = async (surface_type: string) =>
    (await dem(made, "/api/dem", { source, cell_size: 1, surface_type })).meta.warnings ?? [];
  expect(await told("chm")).toContain(TOLD);
  expect((await told("dtm")).join()).not.toContain("as canopy");
});
