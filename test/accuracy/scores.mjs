// Figures of a two-class labelling and of the terrain that its ground points make.

/** Counts by truth and answer; truth 1 ground, 2 not, 0 unknown (left out). */
export function confusion(truth, labels) {
  const counts = { groundGround: 0, groundPlant: 0, plantGround: 0, plantPlant: 0 };
  for (let i = 0; i < truth.length; i += 1) {
    if (truth[i] === 0) continue;
    const key = truth[i] === 1 ? "ground" : "plant";
    counts[`${key}${labels[i] === 1 ? "Ground" : "Plant"}`] += 1;
  }
  return counts;
}

/** Type I: ground lost; type II: objects taken for ground (Sithole & Vosselman 2004); kappa after Cohen 1960. */
export function scores({ groundGround: a, groundPlant: b, plantGround: c, plantPlant: d }) {
  const n = a + b + c + d;
  const agree = (a + d) / n;
  const chance = ((a + b) * (a + c) + (c + d) * (b + d)) / (n * n);
  const precision = a / (a + c);
  const recall = a / (a + b);
  return {
    kappa: chance === 1 ? 1 : (agree - chance) / (1 - chance),
    typeI: b / (a + b),
    typeII: c + d === 0 ? 0 : c / (c + d),
    total: (b + c) / n,
    precision,
    recall,
    f1: (2 * precision * recall) / (precision + recall),
  };
}

/** Height at cell centres from the nearest 8 ground points: plane of least squares, weights 1 / distance^2. */
class Surface {
  constructor(xyz, labels, side, cell) {
    this.count = Math.ceil(side / cell);
    this.cell = cell;
    this.xyz = xyz;
    this.buckets = new Map();
    for (let i = 0; i < labels.length; i += 1) {
      if (labels[i] !== 1) continue;
      const key = this.key(xyz[3 * i], xyz[3 * i + 1]);
      const bucket = this.buckets.get(key);
      if (bucket) bucket.push(i);
      else this.buckets.set(key, [i]);
    }
  }
  key(x, y) {
    const at = (value) => Math.min(this.count - 1, Math.max(0, Math.floor(value / this.cell)));
    return at(y) * this.count + at(x);
  }
  nearest(x, y, wanted) {
    const i = Math.floor(x / this.cell);
    const j = Math.floor(y / this.cell);
    const found = [];
    for (let ring = 0; ring < this.count; ring += 1) {
      for (let b = j - ring; b <= j + ring; b += 1) {
        if (b < 0 || b >= this.count) continue;
        const step = b === j - ring || b === j + ring ? 1 : Math.max(1, 2 * ring);
        for (let a = i - ring; a <= i + ring; a += step) {
          if (a < 0 || a >= this.count) continue;
          for (const p of this.buckets.get(b * this.count + a) ?? [])
            found.push({ p, d: (this.xyz[3 * p] - x) ** 2 + (this.xyz[3 * p + 1] - y) ** 2 });
        }
      }
      const safe = ((ring + 0.5) * this.cell) ** 2;
      if (found.filter(({ d }) => d <= safe).length >= wanted) break;
    }
    return found.sort((a, b) => a.d - b.d).slice(0, wanted);
  }
  height(x, y) {
    const near = this.nearest(x, y, 8);
    const m = [0, 0, 0, 0, 0, 0];
    const v = [0, 0, 0];
    for (const { p, d } of near) {
      const w = 1 / (d + 1e-4);
      const dx = this.xyz[3 * p] - x;
      const dy = this.xyz[3 * p + 1] - y;
      const z = this.xyz[3 * p + 2];
      [w, w * dx, w * dy, w * dx * dx, w * dx * dy, w * dy * dy].forEach((term, k) => {
        m[k] += term;
      });
      [w * z, w * dx * z, w * dy * z].forEach((term, k) => {
        v[k] += term;
      });
    }
    const [s, sx, sy, sxx, sxy, syy] = m;
    const minor = sxx * syy - sxy * sxy;
    const det = s * minor - sx * (sx * syy - sxy * sy) + sy * (sx * sxy - sxx * sy);
    if (!(Math.abs(det) > 1e-9 * s * (sxx + syy) ** 2)) return v[0] / s;
    return (v[0] * minor - sx * (v[1] * syy - sxy * v[2]) + sy * (v[1] * sxy - sxx * v[2])) / det;
  }
}

const CELL = 0.5;

/** RMSE of `at(x, y, cell)` against the exact height at the centres of the cells. */
function rmseOf({ height, side }, at) {
  const count = Math.floor(side / CELL);
  let sum = 0;
  for (let j = 0; j < count; j += 1) {
    for (let i = 0; i < count; i += 1) {
      const x = (i + 0.5) * CELL;
      const y = (j + 0.5) * CELL;
      sum += (at(x, y, j * count + i) - height(x, y)) ** 2;
    }
  }
  return Math.sqrt(sum / (count * count));
}

/** Of planes through the nearest ground points. */
export function planesRmse(cloud, labels) {
  const surface = new Surface(cloud.xyz, labels, cloud.side, CELL);
  return rmseOf(cloud, (x, y) => surface.height(x, y));
}

/** Of the DTM that the service makes of the ground points; `terrainRaster` as in the addon, false = plain cells. */
export async function dtmRmse(cloud, labels, { terrainRaster, positions, column, values }, at_centers = true) {
  const xyz = positions(cloud.xyz);
  const skip = column(
    "u8",
    Uint8Array.from(labels, (label) => (label === 1 ? 0 : 1)),
  );
  const count = Math.floor(cloud.side / CELL);
  const frame = { min_x: 0, min_y: 0, cell: CELL, nx: count, ny: count };
  const params = { frame, percentile: 5, method: "tin", gaps: "fill", at_centers };
  const raster = await terrainRaster(xyz, skip, params, null).promise;
  const z = values(raster.z);
  for (const one of [xyz, skip, raster.z]) one.release();
  return rmseOf(cloud, (_x, _y, cell) => z[cell]);
}
