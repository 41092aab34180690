// Ground with a slope, hummocks and a rough surface, exact everywhere: a lattice with two planes in each cell.
import { type Height, valueNoise } from "../relief.ts";
import { codeOf, NO_CYLINDER, SCANNED, type Surface } from "./surface.ts";

const CELL_M = 0.2;
/** Ground beyond the border of the plot, metres. */
export const MARGIN_M = 6;
/** Wavelength and amplitude of each octave, metres. */
const OCTAVES = [
  [24, 0.5],
  [8, 0.12],
  [2, 0.035],
  [0.5, 0.012],
] as const;

export class Terrain {
  readonly #heights: Float64Array;
  readonly #across: number;

  /** A square from -MARGIN_M to side + MARGIN_M that rises towards +y. */
  constructor(seed: number, side: number, slope_deg: number) {
    const width = side + 2 * MARGIN_M;
    this.#across = Math.ceil(width / CELL_M) + 1;
    const octaves = OCTAVES.map(([size, amplitude], k) => {
      const noise = valueNoise(seed + k, size, width + 1);
      return (x: number, y: number) => amplitude * noise(x, y);
    });
    const rise = Math.tan((slope_deg * Math.PI) / 180);
    this.#heights = Float64Array.from({ length: this.#across ** 2 }, (_, k) => {
      const [x, y] = [(k % this.#across) * CELL_M, Math.floor(k / this.#across) * CELL_M];
      return octaves.reduce((sum, octave) => sum + octave(x, y), rise * (y - MARGIN_M));
    });
  }

  readonly height: Height = (x, y) => {
    const [u, v] = [(x + MARGIN_M) / CELL_M, (y + MARGIN_M) / CELL_M];
    const within = (value: number) => Math.min(this.#across - 2, Math.max(0, Math.floor(value)));
    const [i, j] = [within(u), within(v)];
    const [f, g] = [u - i, v - j];
    const at = (a: number, b: number) => this.#heights[(j + b) * this.#across + i + a] ?? Number.NaN;
    const corner = at(0, 0);
    return f >= g
      ? corner + f * (at(1, 0) - corner) + g * (at(1, 1) - at(1, 0))
      : corner + g * (at(0, 1) - corner) + f * (at(1, 1) - at(0, 1));
  };

  addTo(surface: Surface): void {
    const code = codeOf(0, NO_CYLINDER);
    const first = surface.vertexCount;
    for (let j = 0; j < this.#across; j += 1)
      for (let i = 0; i < this.#across; i += 1)
        surface.vertex([i * CELL_M - MARGIN_M, j * CELL_M - MARGIN_M, this.#heights[j * this.#across + i] ?? 0], code);
    for (let j = 0; j + 1 < this.#across; j += 1) {
      for (let i = 0; i + 1 < this.#across; i += 1) {
        const corner = first + j * this.#across + i;
        const above = corner + this.#across;
        surface.quad(corner, corner + 1, above + 1, above, SCANNED.ground);
      }
    }
  }
}
