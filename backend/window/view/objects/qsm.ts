import {
  Color,
  CylinderGeometry,
  Group,
  InstancedMesh,
  Matrix4,
  MeshLambertMaterial,
  Quaternion,
  Vector3,
} from "three";
import type { Point } from "../../../../shared/contract/geometry.ts";
import type { QsmInput } from "../cloud-view.ts";

const SIDES = 10;
/** Brown stems, then from branch to twig. */
const RANK_COLOURS = ["#8f623a", "#b97c3f", "#d69a45", "#bfb74e", "#84b858", "#55ad80"];

/** The cylinders of a QSM as instances of one. Coordinates are relative to the first cylinder's start, its `origin`. */
export function qsmGroup({ cylinders }: QsmInput): { readonly group: Group; readonly origin: Point } {
  const origin: Point = cylinders[0]?.start ?? [0, 0, 0];
  const shape = new CylinderGeometry(1, 1, 1, SIDES).rotateX(Math.PI / 2); // along z
  const mesh = new InstancedMesh(shape, new MeshLambertMaterial({ color: "#ffffff" }), cylinders.length);
  const z = new Vector3(0, 0, 1);
  for (const [i, { start, end, radius, rank }] of cylinders.entries()) {
    const a = relative(start, origin);
    const b = relative(end, origin);
    const length = a.distanceTo(b);
    const along = b.clone().sub(a).normalize();
    const turn = new Quaternion().setFromUnitVectors(z, length > 0 ? along : z);
    const middle = a.add(b).multiplyScalar(0.5);
    mesh.setMatrixAt(i, new Matrix4().compose(middle, turn, new Vector3(radius, radius, length)));
    mesh.setColorAt(i, new Color(RANK_COLOURS[Math.min(rank, RANK_COLOURS.length - 1)]));
  }
  mesh.computeBoundingSphere();
  const group = new Group();
  group.add(mesh);
  return { group, origin };
}

const relative = (at: Point, origin: Point) => new Vector3(at[0] - origin[0], at[1] - origin[1], at[2] - origin[2]);
