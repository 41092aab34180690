// What `analyze` does about the unit and the coordinate system of a file.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { fakeService, smallOctree, smallTail } from "../../support/cli/analyze-fake.ts";
import { runFake as run } from "../../support/cli/fake-command-line.ts";
import { folderOfTest } from "../../support/run/folders.ts";

let root = "";
let cloud = "";
let out = "";
beforeEach(() => {
  root = folderOfTest("analyze-");
  cloud = join(root, "plot <1>.xyz");
  out = join(root, "out");
  writeFileSync(cloud, "1 2 3\n");
});

describe("units and systems", () => {
  const US_FEET = { epsg: 2992, name: "unknown", is_geographic: false, unit_name: "foot", unit_m: 0.3048 };
  const crs = (change = {}) => ({ ...US_FEET, vertical_epsg: null, vertical_unit_m: null, ...change });
  const looking = (stated: ReturnType<typeof crs>, detected_units: "ft" | null = "ft") => {
    const tail = smallTail({ source_units: "ft", source_unit_scale: 0.3048 });
    const service = fakeService(smallOctree(), tail);
    const preview = service.client.preview;
    const client = {
      ...service.client,
      preview: async (...call: Parameters<typeof preview>) => ({
        ...(await preview(...call)),
        crs: stated,
        detected_units,
        units_certain: detected_units !== null,
      }),
    };
    return { ...service, client };
  };

  test("a file that states feet is converted, and the table says so", async () => {
    const service = looking(crs());
    const { code, stdout } = await run(["analyze", cloud, "--out", out], service);
    expect(code).toBe(0);
    expect(service.requests.createSession).toMatchObject({ source_units: "ft" });
    expect(stdout).toMatch(/^Units of the file +feet, converted to metres \(× 0\.3048\)$/m);
    expect(stdout).toMatch(
      /^Coordinate system +none: of the file EPSG:2992; its coordinates were converted to metres$/m,
    );
    expect(stdout).not.toMatch(/unknown/);
  });

  test("--units wins over the file", async () => {
    const service = looking(crs());
    expect((await run(["analyze", cloud, "--out", out, "--units", "m"], service)).code).toBe(0);
    expect(service.requests.createSession).toMatchObject({ source_units: "m" });
  });

  test.each([
    [
      "heights in another unit",
      crs({ vertical_unit_m: 1 }),
      /heights in units of 1 m; convert it first, or give --units/,
    ],
    ["degrees", crs({ is_geographic: true, unit_m: null }), /angles in degrees; .* or give --units/],
  ])("%s exit 2", async (_, stated, message) => {
    const { code, stderr } = await run(["analyze", cloud, "--out", out], looking(stated, null));
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test("warnings name options, and leave out what the report does not contain", async () => {
    const warnings = [
      "The file's coordinates are in rod (5.0292 m); they were read as metres. Import with source_units to convert them.",
      "At coordinates up to 849501 m, the 32-bit vertices of the mesh have steps of 0.0625 m.",
    ];
    const service = fakeService(smallOctree(), smallTail({ warnings }));
    const { stdout } = await run(["analyze", cloud, "--out", out], service);
    expect(stdout).toContain("read as metres. Use --units to convert them.");
    expect(stdout).not.toMatch(/source_units|mesh/);
  });
});
