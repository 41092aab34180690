import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type JsonSchema, nameOf, type OpenApi, operationsOf } from "../support/app/openapi.ts";
import { type HeadlessBackend, startHeadless } from "../support/process/headless-backend.ts";
import { testScan, writeSpiral } from "../support/scans/scans.ts";

const CLIENT = fileURLToPath(new URL("../../shared/python/point_cloud_client.py", import.meta.url));
const SCRIPTS = fileURLToPath(new URL("../support/python", import.meta.url));
const PYTHON = ["/usr/bin/python3", "/usr/local/bin/python3"].find(existsSync);
if (!PYTHON) console.log("python client: skipped, there is no python3");
const NUMPY = [PYTHON, "python3"].find((name) => name && spawnSync(name, ["-c", "import numpy"]).status === 0);
if (PYTHON && !NUMPY) console.log("python client: the calls with numpy are skipped, no python3 has it");
const TOKEN = "0123456789abcdef0123456789abcdef";
const RUN_MS = 180_000;

/** What a script prints as JSON. */
const python = async <T>(script: string, args: readonly string[], program = PYTHON): Promise<T> =>
  JSON.parse(await printed(join(SCRIPTS, script), args, program)) as T;

/** What a script prints. Errors: it failed, with all it said. */
async function printed(script: string, args: readonly string[] = [], program = PYTHON): Promise<string> {
  const child = spawn(program ?? "python3", ["-W", "error", script, ...args], {
    env: { ...process.env, PYTHONPATH: dirname(CLIENT), PYTHONDONTWRITEBYTECODE: "1" },
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${script} ended with ${code}:\n${err}${out}`);
  return out;
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

describe.skipIf(!PYTHON)("the Python client", () => {
  let backend: HeadlessBackend;
  let document: OpenApi;
  beforeAll(async () => {
    backend = await startHeadless({ APP_AUTH_TOKEN: TOKEN });
    const headers = { authorization: `Bearer ${TOKEN}` };
    document = (await (await fetch(`${backend.url}/openapi.json`, { headers })).json()) as OpenApi;
  }, 60_000);
  afterAll(async () => {
    expect(await backend?.stop()).toBe(0);
  });

  test("has a method for every operation and no other, and its docstring names every field of the request", async () => {
    const methods = await python<Record<string, string>>("describe.py", []);
    const operations = operationsOf(document).map(({ op }) => op);
    expect(Object.keys(methods).sort()).toEqual(operations.map(({ operationId }) => snake(operationId)).sort());
    const unnamed = operations.flatMap(({ operationId, requestBody }) => {
      const schemas = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema);
      const shape = (schema: JsonSchema) => document.components.schemas[nameOf(schema)]?.properties ?? {};
      const doc = methods[snake(operationId)] ?? "";
      return schemas
        .flatMap((schema) => Object.keys(shape(schema)))
        .filter((field) => !new RegExp(`\\b${field}\\b`).test(doc))
        .map((field) => `${operationId}: ${field}`);
    });
    expect(unnamed).toEqual([]);
  });

  const everyCall = async (program: string | undefined) => {
    const args = [backend.url, TOKEN, backend.folder];
    const { called, numpy } = await python<{ called: string[]; numpy: boolean }>("every_call.py", args, program);
    expect(called).toEqual(
      operationsOf(document)
        .map(({ op }) => snake(op.operationId))
        .sort(),
    );
    expect(backend.log()).not.toContain('"level":50');
    return numpy;
  };
  test(
    "every method once, refusals and cancels, with nothing but the standard library",
    async () => {
      process.env.WITHOUT_NUMPY = "1";
      try {
        expect(await everyCall(PYTHON)).toBe(false);
      } finally {
        delete process.env.WITHOUT_NUMPY;
      }
    },
    RUN_MS,
  );
  test.skipIf(!NUMPY)(
    "the same with numpy arrays",
    async () => {
      expect(await everyCall(NUMPY)).toBe(true);
    },
    RUN_MS,
  );

  test(
    "one workflow of each domain, from data with a known answer",
    async () => {
      expect(await python("domains.py", [backend.url, TOKEN, backend.folder])).toEqual([
        "trees_and_models",
        "one_tree",
        "leaf_area",
        "surfaces_and_registration",
        "fits_and_optics",
        "plants_and_projects",
      ]);
      expect(backend.log()).not.toContain('"level":50');
    },
    RUN_MS,
  );

  test(
    "the examples of README and docstring work as they stand",
    async () => {
      const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
      const docstring = readFileSync(CLIENT, "utf8").split('"""')[1] ?? "";
      const blocks = [/```python\n(.*?)```/s.exec(readme)?.[1], /( {4}from .*?)\n\n\S/s.exec(docstring)?.[1]];
      for (const [i, block = ""] of blocks.entries()) {
        const text = block
          .replace(/^ {4}(?! )/gm, i === 1 ? "" : "    ")
          .replace('"http://127.0.0.1:8008"', JSON.stringify(backend.url).concat(", ", JSON.stringify(TOKEN)))
          .replace(/"\/data\/(plot|scan)\.laz"/, "SCAN")
          .replaceAll("/data/", `${backend.folder}/${i}-`)
          .replace("SCAN", JSON.stringify(example()));
        const script = join(backend.folder, `example${i}.py`);
        writeFileSync(script, text);
        await printed(script);
        const [raster, copy] =
          [
            ["terrain.tif", "plot_ground.laz"],
            ["dtm.tif", "ground.laz"],
          ][i] ?? [];
        for (const name of [raster, copy])
          expect(statSync(join(backend.folder, `${i}-${name}`)).size).toBeGreaterThan(500);
      }
    },
    RUN_MS,
  );

  test(
    "a scan becomes a terrain model and a labelled copy",
    async () => {
      let scan = testScan("als/pyfor_pine_200m.laz");
      if (!scan) {
        scan = join(backend.folder, "spiral.txt");
        await writeSpiral(scan, 50_000);
      }
      const made = await python<Driven>("drive.py", [backend.url, TOKEN, scan, backend.folder]);
      expect(made.ground + made.plant).toBe(made.points);
      expect(made.ground).toBeGreaterThan(0.01 * made.points);
      expect(made.copied).toBe(made.points);
      const [nx, ny, cells] = made.cells;
      expect(cells).toBe(nx * ny);
      expect(made.voids).toBe(made.voids_told);
      expect(made.voids).toBeLessThan(cells);
      const { min, max } = made.bounds;
      expect(made.heights[0]).toBeGreaterThanOrEqual(min[2] - 1);
      expect(made.heights[1]).toBeLessThanOrEqual(max[2]);
      expect(made.raster_bytes).toBeGreaterThan(4 * cells);
      expect(made.run_ids).toBe(3); // create, terrain, export
      expect(made.messages).toContain("Computing layers");
    },
    RUN_MS,
  );
});

/** A small real scan, or a generated one whose name says it is text. */
function example(): string {
  const scan = testScan("als/pdal_sample_c.las");
  if (scan) return scan;
  const file = join(tmpdir(), "example.txt");
  const rows = Array.from(
    { length: 10_000 },
    (_, i) => `${(i % 100) * 0.5} ${Math.floor(i / 100) * 0.5} ${(i % 7) * 0.01}`,
  );
  writeFileSync(file, rows.join("\n"));
  return file;
}

interface Driven {
  readonly points: number;
  readonly ground: number;
  readonly plant: number;
  readonly cells: [nx: number, ny: number, count: number];
  readonly voids: number;
  readonly voids_told: number;
  readonly bounds: { min: [number, number, number]; max: [number, number, number] };
  readonly heights: [number, number];
  readonly raster_bytes: number;
  readonly copied: number;
  readonly run_ids: number;
  readonly messages: string[];
}
