const START_S = 5e8;

/** A scanner on a body that drives 0.3 turns of a circle of 2 m within a second and tilts on its way. */
export const MOVING_SCANNER = {
  poses: Array.from({ length: 41 }, (_, i) => {
    const a = (0.6 * Math.PI * i) / 40;
    return {
      t: START_S + i / 40,
      x: 2 * Math.sin(a),
      y: 2 * (1 - Math.cos(a)),
      z: 0.1 * Math.sin(3 * a),
      qx: 0.02 * Math.sin(a),
      qy: 0.03,
      qz: Math.sin(a / 2),
      qw: Math.cos(a / 2),
    };
  }),
  lever_arm: [0.1, 0, 0.3],
  boresight_rpy: [0.02, -0.03, 0.5],
};
