import type { QsmCylinder, QsmShoot } from "../../../shared/contract/qsm-records.ts";

type Triple = readonly [number, number, number];

/** Cylinder from and to a place relative to `origin`. */
export function cylinder(
  origin: Triple,
  [cyl_id, parent_id, shoot_id, rank]: readonly [number, number, number, number],
  from: Triple,
  to: Triple,
  radius: number,
): QsmCylinder {
  const at = (p: Triple): [number, number, number] => [origin[0] + p[0], origin[1] + p[1], origin[2] + p[2]];
  const measured = cyl_id % 2 === 0;
  return {
    cyl_id,
    start: at(from),
    end: at(to),
    radius,
    parent_id,
    shoot_id,
    rank,
    surf_cov: measured ? 0.75 : null,
    mad: measured ? 0.00125 : null,
    radius_se: null,
  };
}

/** A stem that bends, a branch that turns back on itself after a gap, and a twig of one cylinder. */
export function yTree(origin: Triple): { cylinders: QsmCylinder[]; shoots: QsmShoot[] } {
  const cylinders = [
    cylinder(origin, [0, -1, 4, 0], [0, 0, 0], [0, 0, 1], 0.2),
    cylinder(origin, [1, 0, 4, 0], [0, 0, 1], [0.3, 0, 2], 0.15),
    cylinder(origin, [2, 1, 4, 0], [0.3, 0, 2], [0.3, 0.1, 3], 0.1),
    cylinder(origin, [7, 0, 9, 1], [0, 0, 1], [1, 0, 1.5], 0.08),
    cylinder(origin, [8, 7, 9, 1], [1.1, 0, 1.5], [0.4, 0, 1.5], 0.05),
    cylinder(origin, [12, 8, 11, 2], [0.4, 0, 1.5], [0.4, 1 / 3, 1.7], 0.01),
  ];
  const shoot = (
    [shoot_id, rank, parent_shoot_id, parent_cyl_id]: readonly [number, number, number, number],
    cylinder_ids: number[],
    child_shoot_ids: number[],
  ): QsmShoot => ({ shoot_id, rank, cylinder_ids, parent_shoot_id, parent_cyl_id, child_shoot_ids });
  return {
    cylinders,
    shoots: [shoot([4, 0, -1, -1], [0, 1, 2], [9]), shoot([9, 1, 4, 0], [7, 8], [11]), shoot([11, 2, 9, 8], [12], [])],
  };
}
