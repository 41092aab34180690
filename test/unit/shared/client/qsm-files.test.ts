import { describe, expect, test } from "vitest";
import { qsmCsv, qsmGlb, qsmMesh, qsmObj, qsmPly, treeQsmCsv } from "../../../../shared/client/index.ts";
import type { QsmCylinder, QsmShoot } from "../../../../shared/contract/qsm-records.ts";
import { yTree } from "../../../support/qsm/models.ts";

const O = [5_000_000, -3_000_000, 400] as const;

/** Number of triangles at each edge, vertices at one place counted as one. */
function edgeCounts(vertices: Float32Array, indices: Uint32Array): number[] {
  const place = (i: number) => vertices.slice(3 * i, 3 * i + 3).join(" ");
  const edges = new Map<string, number>();
  for (let t = 0; t < indices.length; t += 3) {
    for (const [a, b] of [
      [0, 1],
      [1, 2],
      [2, 0],
    ] as const) {
      const key = [place(indices[t + a] as number), place(indices[t + b] as number)].sort().join("|");
      edges.set(key, (edges.get(key) ?? 0) + 1);
    }
  }
  return [...new Set(edges.values())];
}

/** By the divergence theorem, m3. */
function volumeOf(vertices: Float32Array, indices: Uint32Array): number {
  let six = 0;
  const p = (i: number, k: number) => vertices[3 * (indices[i] as number) + k] as number;
  for (let t = 0; t < indices.length; t += 3) {
    six += p(t, 0) * (p(t + 1, 1) * p(t + 2, 2) - p(t + 1, 2) * p(t + 2, 1));
    six += p(t, 1) * (p(t + 1, 2) * p(t + 2, 0) - p(t + 1, 0) * p(t + 2, 2));
    six += p(t, 2) * (p(t + 1, 0) * p(t + 2, 1) - p(t + 1, 1) * p(t + 2, 0));
  }
  return six / 6;
}

describe("tubes", () => {
  test("a straight shoot is a closed prism of the volume of its polygon", () => {
    const cylinder: QsmCylinder = {
      cyl_id: 0,
      start: [...O],
      end: [O[0], O[1] + 3, O[2] + 4],
      radius: 0.2,
      parent_id: -1,
      shoot_id: 0,
      rank: 0,
      surf_cov: null,
      mad: null,
      radius_se: null,
    };
    const shoot: QsmShoot = {
      shoot_id: 0,
      rank: 0,
      cylinder_ids: [0],
      parent_shoot_id: -1,
      parent_cyl_id: -1,
      child_shoot_ids: [],
    };
    const mesh = qsmMesh({ cylinders: [cylinder], shoots: [shoot] }, 8);
    expect(edgeCounts(mesh.vertices, mesh.indices)).toEqual([2]);
    const polygon = 4 * Math.sin(Math.PI / 4) * 0.2 * 0.2; // area of an octagon in the circle
    expect(volumeOf(mesh.vertices, mesh.indices)).toBeCloseTo(polygon * 5, 5);
  });

  test("every shoot is closed and turned outwards, also with bends, gaps and turns back", () => {
    const model = yTree(O);
    const mesh = qsmMesh(model);
    expect(edgeCounts(mesh.vertices, mesh.indices)).toEqual([2]);
    expect(volumeOf(mesh.vertices, mesh.indices)).toBeGreaterThan(0);
    expect(Math.max(...mesh.vertices.map(Math.abs))).toBeLessThan(100); // relative to the origin
    for (let i = 0; i < mesh.normals.length; i += 3)
      expect(Math.hypot(...mesh.normals.slice(i, i + 3))).toBeCloseTo(1, 5);
  });

  test("shoots without length have no tube; rings have at least three corners", () => {
    const { cylinders, shoots } = yTree(O);
    const flat = cylinders.map((cylinder) => ({ ...cylinder, end: cylinder.start }));
    expect(qsmMesh({ cylinders: flat.slice(0, 1), shoots: shoots.slice(0, 1) }).indices).toHaveLength(0);
    expect(() => qsmMesh({ cylinders, shoots }, 2)).toThrow(RangeError);
  });
});

test("CSV: numbers and empty cells alone, all digits kept", () => {
  const text = [...qsmCsv(yTree(O))].join("");
  const [head, ...rows] = text.trimEnd().split("\n");
  expect(head).toBe(
    "ID,parentID,branchID,branchOrder,segmentID,parentSegmentID,startX,startY,startZ,endX,endY,endZ,axisX,axisY,axisZ,radius,length,surfaceCoverage,meanAbsDeviation",
  );
  expect(rows).toHaveLength(yTree(O).cylinders.length);
  for (const row of rows) for (const cell of row.split(",")) expect(cell).toMatch(/^(-?\d+(\.\d+)?(e-?\d+)?)?$/);
  expect(rows[0]?.split(",").slice(6, 9)).toEqual(["5000000", "-3000000", "400"]);
});

test("GLB: accepted by the validator, and read back by another program", async () => {
  const mesh = qsmMesh(yTree(O));
  const bytes = qsmGlb(mesh);
  // @ts-expect-error the package has no types
  const validator = (await import("gltf-validator")).default;
  const { issues } = (await validator.validateBytes(bytes)) as { issues: { numErrors: number; numWarnings: number } };
  expect(issues).toMatchObject({ numErrors: 0, numWarnings: 0 });
  const { NodeIO } = await import("@gltf-transform/core");
  const root = (await new NodeIO().readBinary(bytes)).getRoot();
  const primitive = root.listMeshes()[0]?.listPrimitives()[0];
  expect(primitive?.getAttribute("POSITION")?.getArray()).toEqual(mesh.vertices);
  expect(primitive?.getIndices()?.getArray()).toEqual(mesh.indices);
  expect(root.listNodes()[0]?.getExtras()).toEqual({ world_shift: [...mesh.origin] });
  expect(() => qsmGlb({ ...mesh, indices: new Uint32Array(0) })).toThrow(RangeError);
});

test("OBJ and PLY: true world coordinates, one vertex and face per line or record", () => {
  const mesh = qsmMesh(yTree(O));
  const lines = [...qsmObj(mesh)].join("").split("\n");
  const vertices = lines.filter((text) => text.startsWith("v ")).map((text) => text.split(" ").slice(1).map(Number));
  expect(vertices).toHaveLength(mesh.vertices.length / 3);
  expect(Math.min(...vertices.map(([x]) => x as number))).toBeGreaterThan(O[0] - 10);
  expect(lines.filter((text) => text.startsWith("f "))).toHaveLength(mesh.indices.length / 3);
  const ply = qsmPly(mesh);
  const head = new TextDecoder().decode(ply.subarray(0, 400)).split("end_header\n")[0] as string;
  expect(head).toContain(`element vertex ${mesh.vertices.length / 3}\n`);
  const view = new DataView(ply.buffer, head.length + "end_header\n".length);
  expect(view.getFloat64(0, true)).toBeCloseTo((mesh.vertices[0] as number) + mesh.origin[0], 6);
  expect(view.byteLength).toBe(12 * mesh.vertices.length + (13 * mesh.indices.length) / 3);
});

test("table of the models of trees: the columns of the contract, text that is no formula", () => {
  const failed = {
    tree_id: 4,
    success: false,
    error: "=1+1, no",
    points_in_tree: 20,
    points_used: 0,
    voxel_m: null,
    wood_only: true,
    n_cylinders: 0,
    n_shoots: 0,
    metrics: null,
    view_fit: null,
    enlarged_by: 1,
    base_gap_m: null,
    cut_width_m: 1.5,
    cut_top: false,
  };
  expect([...treeQsmCsv("-plot.laz", [failed])]).toEqual([
    "scan_name,tree_id,success,error,points_in_tree,points_used,voxel_m,wood_only,n_cylinders,n_shoots,total_woody_volume_m3,stem_volume_m3,branch_volume_m3,trunk_diameter_mm,tcsa_m2,tree_height_m,total_length_m,n_scaffolds,n_shoots_total,max_rank,canopy_width_m,canopy_height_m,cut_width_m,cut_top,base_gap_m\n",
    `'-plot.laz,4,false,"'=1+1, no",20,0,,true,0,0${",".repeat(13)}1.5,false,\n`,
  ]);
});
