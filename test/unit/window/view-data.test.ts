import { Matrix4, PerspectiveCamera, Vector3 } from "three";
import { describe, expect, test } from "vitest";
import { takeToken } from "../../../backend/window/access.ts";
import { strings } from "../../../backend/window/strings.ts";
import { legendOf } from "../../../backend/window/view/colours/legend.ts";
import { classColour, paletteIndex, rampAt } from "../../../backend/window/view/colours/palettes.ts";
import { type ColouredCloud, columnsFor, resolveColours } from "../../../backend/window/view/colours/resolve.ts";
import { surfaceMesh } from "../../../backend/window/view/objects/meshes.ts";
import { qsmGroup } from "../../../backend/window/view/objects/qsm.ts";
import { columnColours, columnValues, localPositions } from "../../../backend/window/view/octree/columns.ts";
import { boxRegion, extendStroke, screenRegion } from "../../../backend/window/view/tools/regions.ts";
import type { OctreeMetadata } from "../../../shared/octree/potree2-metadata.ts";

const column = (name: string, type: string, num_elements: number, byte_offset: number, min = 0, max = 1) =>
  ({
    name,
    description: "",
    type,
    num_elements,
    byte_offset,
    min: [min],
    max: [max],
  }) as OctreeMetadata["attributes"][0];
const metadata = (attributes: OctreeMetadata["attributes"], record_bytes: number): OctreeMetadata => ({
  name: "",
  projection: "",
  point_count: 1,
  first_chunk_bytes: 22,
  offset: [500_000, 5_400_000, 100],
  scale: [0.001, 0.001, 0.001],
  spacing: 1,
  bounds: { min: [500_000, 5_400_000, 100], max: [500_008, 5_400_008, 108] },
  attributes,
  record_bytes,
});

describe("columns of a node", () => {
  const layout = metadata(
    [column("position", "int32", 3, 0), column("rgb", "uint16", 3, 12), column("gps-time", "double", 1, 18)],
    26,
  );
  const bytes = new Uint8Array(52);
  const view = new DataView(bytes.buffer);
  for (const [i, mm] of [1234, -77].entries()) {
    view.setInt32(26 * i, mm, true);
    view.setInt32(26 * i + 4, 2 * mm, true);
    view.setInt32(26 * i + 8, 3 * mm, true);
    for (const [e, value] of [65535, 32768, 255].entries()) view.setUint16(26 * i + 12 + 2 * e, value, true);
    view.setFloat64(26 * i + 18, 350_000_000.25 + i, true);
  }

  test("keep millimetres at UTM offsets and quarter seconds of a GPS time", () => {
    const at = localPositions(bytes, layout, [500_000, 5_400_000, 100]);
    expect([...at].map((x) => Math.round(1e6 * x) / 1e6)).toEqual([1.234, 2.468, 3.702, -0.077, -0.154, -0.231]);
    const times = layout.attributes[2];
    if (!times) throw new Error("no times");
    expect([...columnValues(bytes, layout, times, 350_000_000)]).toEqual([0.25, 1.25]);
  });

  test("show 16-bit colours by their upper byte", () => {
    expect([...(columnColours(bytes, layout) ?? [])].slice(0, 4)).toEqual([255, 128, 0, 255]);
  });
});

describe("colours", () => {
  const cloud = (id: string, attributes: OctreeMetadata["attributes"], more: object = {}): ColouredCloud => ({
    metadata: metadata([column("position", "int32", 3, 0), ...attributes], 40),
    shift: [0, 0, 10],
    input: { session_id: id, name: id, world_shift: [0, 0, 10], octree: { cache_id: "c", attributes: [], ...more } },
  });
  const one = cloud("one", [column("tree_instance", "uint16", 1, 12, 0, 300)], {
    observed_classes: { tree_instance: [0, 1, 256, 300] },
  });
  const other = cloud("other", [column("intensity", "uint16", 1, 12, 5, 900)], {
    robust_attribute_ranges: { intensity: [10, 200] },
  });

  test("of classes: columns of whole numbers alone, and a legend that is never empty without a word", () => {
    const [whole, real] = [{ is_integer: true }, { is_integer: false }];
    expect([
      columnsFor("class", [real, whole]),
      columnsFor("column", [real, whole]),
      columnsFor("height", [whole]),
    ]).toEqual([[whole], [real, whole], []]);
    const unknown = cloud("unknown", [column("tree_instance", "uint32", 1, 12, 1, 60_000)]);
    const colouring = { kind: "class", column: "tree_instance" } as const;
    const legend = legendOf(resolveColours([unknown], colouring), colouring, strings.view);
    expect(legend).toMatchObject({ kind: "classes", title: "tree_instance: 1 to 60000", entries: [] });
    const listed = legendOf(resolveColours([one], colouring), colouring, strings.view);
    expect(listed).toMatchObject({ title: "tree_instance", entries: { length: 4 } });
  });

  test("use one range for all clouds, and heights where a cloud lacks the column", () => {
    const byIntensity = resolveColours([one, other], { kind: "intensity" });
    expect(byIntensity.get(other)).toMatchObject({ mode: "ramp", range: [10, 200] });
    expect(byIntensity.get(one)).toEqual({ mode: "height", range: [110, 118] });
    expect(legendOf(byIntensity, { kind: "intensity" }, strings.view)).toMatchObject({ kind: "ramp" });
  });

  test("of classes are those of the legend, also beyond the palette", () => {
    const classes = resolveColours([one], { kind: "class" });
    const legend = legendOf(classes, { kind: "class" }, strings.view);
    if (legend?.kind !== "classes") throw new Error("no classes");
    expect(legend.entries.map(({ value, label }) => [value, label])).toEqual([
      [0, "No tree"],
      [1, "Tree 1"],
      [256, "Tree 256"],
      [300, "Tree 300"],
    ]);
    expect([0, -1, 1, 255, 256, 300].map(paletteIndex)).toEqual([0, 0, 1, 255, 1, 45]);
    expect(classColour("tree_instance", 256)).toEqual(classColour("tree_instance", 1));
    expect([rampAt(-1), rampAt(Number.NaN), rampAt(2)]).toEqual([rampAt(0), rampAt(0), [253, 231, 37]]);
  });
});

describe("regions", () => {
  const camera = new PerspectiveCamera(50, 800 / 600, 0.1, 100);
  camera.up.set(0, 0, 1);
  camera.position.set(3, -20, 9);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld(true);
  const cloud = {
    input: { session_id: "s" },
    shift: [100, 0, 0] as [number, number, number],
    group: { position: new Vector3(-500_000, -5_400_000, -100) },
  };

  test("take a stored point to the pixel where the camera shows it", () => {
    const region = screenRegion({ kind: "polygon", points: [] }, cloud, { camera, width: 800, height: 600 });
    if (region.kind !== "polygon") throw new Error("no polygon");
    const stored = new Vector3(500_001.5, 5_400_002.25, 100.75);
    const scene = stored.clone().add(cloud.group.position).project(camera);
    const shown = [(scene.x + 1) * 400, (1 - scene.y) * 300];
    const matrix = new Matrix4().fromArray(region.projection).multiply(new Matrix4().fromArray(region.view));
    const e = matrix.elements;
    const clip = (row: number) =>
      (e[row] ?? 0) * stored.x + (e[4 + row] ?? 0) * stored.y + (e[8 + row] ?? 0) * stored.z + (e[12 + row] ?? 0);
    expect((clip(0) / clip(3) + 1) * 400).toBeCloseTo(shown[0] ?? 0, 3);
    expect((1 - clip(1) / clip(3)) * 300).toBeCloseTo(shown[1] ?? 0, 3);
  });

  test("shift a clip box to the stored frame", () => {
    expect(boxRegion({ min: [100, 1, 2], max: [101, 2, 3] }, cloud.shift)).toEqual({
      kind: "box",
      min: [0, 1, 2],
      max: [1, 2, 3],
    });
  });

  test("of a brush leave no gap, and long strokes keep both ends", () => {
    const centers: [number, number][] = [];
    extendStroke(centers, [0, 0], 10);
    extendStroke(centers, [1000, 0], 10);
    expect(centers.at(-1)).toEqual([1000, 0]);
    for (const [i, [x]] of centers.entries())
      if (i > 0) expect(x - (centers[i - 1]?.[0] ?? 0)).toBeLessThanOrEqual(10 + 1e-9);
  });
});

describe("objects", () => {
  test("a surface has no triangle at a cell without a height", () => {
    const heights = [0, 1, 2, 3, Number.NaN, 5, 6, 7, 8];
    const surface = {
      name: "",
      first_centre: [10, 20] as [number, number],
      cell_m: 2,
      column_count: 3,
      row_count: 3,
      heights,
    };
    const { origin, vertices, indices = new Uint32Array() } = surfaceMesh(surface);
    expect(origin).toEqual([10, 20, 0]);
    expect([...vertices.slice(24, 27)]).toEqual([4, 4, 8]);
    expect([...indices]).not.toContain(4);
    expect([...vertices].every(Number.isFinite)).toBe(true);
    expect(indices.length).toBe(6); // of eight triangles, six have the middle as a corner
  });

  test("a cylinder of a QSM reaches from its start to its end", () => {
    const start: [number, number, number] = [500_000, 5_400_000, 100];
    const end: [number, number, number] = [500_001, 5_400_002, 103];
    const { group, origin } = qsmGroup({ name: "", cylinders: [{ start, end, radius: 0.2, rank: 0 }] });
    expect(origin).toEqual(start);
    const matrix = new Matrix4();
    (group.children[0] as unknown as { getMatrixAt(i: number, m: Matrix4): void }).getMatrixAt(0, matrix);
    const place = (z: number) =>
      new Vector3(0, 0, z)
        .applyMatrix4(matrix)
        .toArray()
        .map((x) => Math.round(1e5 * x) / 1e5 + 0);
    expect([place(-0.5), place(0.5)]).toEqual([
      [0, 0, 0],
      [1, 2, 3],
    ]);
  });
});

test("the token leaves the address, and a reload still has it", () => {
  const kept = new Map<string, string>();
  const page = (hash: string) => {
    const replaced: unknown[] = [];
    const fake = {
      location: { hash, pathname: "/app", search: "" },
      history: { replaceState: (...parts: unknown[]) => replaced.push(parts[2]) },
      sessionStorage: {
        setItem: (k: string, v: string) => kept.set(k, v),
        getItem: (k: string) => kept.get(k) ?? null,
      },
    };
    return { fake: fake as unknown as Window, replaced };
  };
  const none = page("");
  expect(takeToken(none.fake)).toBeUndefined();
  const first = page("#token=secret-of-16-chars");
  expect([takeToken(first.fake), first.replaced]).toEqual(["secret-of-16-chars", ["/app"]]);
  expect(takeToken(page("").fake)).toBe("secret-of-16-chars");
});
