import type { QsmCylinder, QsmShoot } from "../../../shared/contract/qsm-records.ts";

type Triple = [number, number, number];

/** A model under construction: shoots of cylinders. */
export class ShootModel {
  readonly cylinders: QsmCylinder[] = [];
  readonly shoots: QsmShoot[] = [];

  /** A shoot along a unit vector, of cylinders of one length; returns its id. */
  add(
    base: Triple,
    axis: Triple,
    size: { readonly count: number; readonly length: number; readonly radius?: number },
    parent: { readonly shoot: number; readonly cylinder: number } = { shoot: -1, cylinder: -1 },
  ): number {
    const { count, length, radius = 0.004 } = size;
    const shoot_id = this.shoots.length;
    const rank = parent.shoot < 0 ? 0 : (this.shoots[parent.shoot]?.rank ?? 0) + 1;
    const shoot: QsmShoot = {
      shoot_id,
      rank,
      cylinder_ids: [],
      parent_shoot_id: parent.shoot,
      parent_cyl_id: parent.cylinder,
      child_shoot_ids: [],
    };
    const at = (s: number): Triple => [base[0] + axis[0] * s, base[1] + axis[1] * s, base[2] + axis[2] * s];
    for (let i = 0; i < count; i += 1) {
      const cyl_id = this.cylinders.length;
      this.cylinders.push({
        cyl_id,
        start: at(i * length),
        end: at((i + 1) * length),
        radius,
        parent_id: i === 0 ? parent.cylinder : cyl_id - 1,
        shoot_id,
        rank,
        surf_cov: null,
        mad: null,
        radius_se: null,
      });
      shoot.cylinder_ids.push(cyl_id);
    }
    this.shoots.push(shoot);
    this.shoots[parent.shoot]?.child_shoot_ids.push(shoot_id);
    return shoot_id;
  }

  get model() {
    return { cylinders: this.cylinders, shoots: this.shoots };
  }
}

/** Vertical shoots with a branch at every node, turned by an angle; azimuths have a normal error. */
export function branchedShoots(
  angle_deg: number,
  {
    per_node = 1,
    nodes = 12,
    shoots = 1,
    scatter_deg = 0,
    broken = 1,
    random = Math.random,
  }: {
    readonly per_node?: number;
    readonly nodes?: number;
    readonly shoots?: number;
    readonly scatter_deg?: number;
    readonly broken?: number;
    readonly random?: () => number;
  } = {},
): ShootModel {
  const model = new ShootModel();
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  for (let s = 0; s < shoots; s += 1) {
    const shoot = model.add([10 * s, 0, 0], [0, 0, 1], { count: nodes, length: 0.05 });
    const first = 360 * random();
    const carriers = model.shoots[shoot]?.cylinder_ids.slice() ?? [];
    for (const [node, cylinder] of carriers.entries())
      for (let k = 0; k < per_node; k += 1) {
        const azimuth = first + node * angle_deg + (360 * k) / per_node + scatter_deg * normal();
        if (random() > broken) continue;
        const a = (azimuth * Math.PI) / 180;
        const axis: Triple = [0.8 * Math.cos(a), 0.8 * Math.sin(a), 0.6];
        model.add([10 * s, 0, 0.05 * (node + 1)], axis, { count: 1, length: 0.2 }, { shoot, cylinder });
      }
  }
  return model;
}
