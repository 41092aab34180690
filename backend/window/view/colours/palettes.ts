/*
 * Colours of the view. The ramp is viridis (S. van der Walt and N. Smith, CC0), sampled at nine places: it is even to the
 * eye and readable by people with colour-blind vision.
 */

export type Rgb = readonly [number, number, number];

const RAMP: readonly Rgb[] = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
];
export const RAMP_COLOURS: readonly string[] = RAMP.map(cssOf);

/** Colour at `t` in 0..1 of the ramp; outside the nearest end. */
export function rampAt(t: number): Rgb {
  const at = Math.min(1, Math.max(0, Number.isFinite(t) ? t : 0)) * (RAMP.length - 1);
  const low = Math.min(RAMP.length - 2, Math.floor(at));
  const [a, b] = [RAMP[low] as Rgb, RAMP[low + 1] as Rgb];
  const mix = (axis: 0 | 1 | 2) => Math.round(a[axis] + (b[axis] - a[axis]) * (at - low));
  return [mix(0), mix(1), mix(2)];
}

/** Grey: no class, no tree. */
export const NEUTRAL: Rgb = [150, 156, 152];
export const HIGHLIGHT: Rgb = [255, 122, 26];

/** Classes of LAS 1.4 (ASPRS), table 17. */
const LAS: Readonly<Record<number, Rgb>> = {
  0: NEUTRAL,
  1: [176, 178, 170],
  2: [160, 112, 60],
  3: [142, 190, 90],
  4: [86, 160, 70],
  5: [30, 118, 62],
  6: [203, 80, 62],
  7: [214, 60, 150],
  9: [60, 130, 200],
  18: [214, 60, 150],
};
/** Colours of the first values of known columns. */
const KNOWN: Readonly<Record<string, Readonly<Record<number, Rgb>>>> = {
  classification: LAS,
  las_classification: LAS,
  ground_class: { 0: NEUTRAL, 1: [160, 112, 60], 2: [60, 140, 74] },
  noise_class: { 0: NEUTRAL, 1: [96, 140, 120], 2: [224, 60, 120] },
  wood_class: { 0: NEUTRAL, 1: [142, 94, 52], 2: [96, 172, 80] },
};

/** Colours repeat after this many values. */
export const PALETTE_SIZE = 256;
/** Steps of the golden angle keep neighbouring numbers far apart in hue. */
const GOLDEN_DEG = 137.508;

/** Colour of a whole number of a column; 0 and below are neutral. */
export function classColour(column: string, value: number): Rgb {
  const known = KNOWN[column]?.[value];
  if (known) return known;
  if (!(value > 0)) return NEUTRAL;
  const index = paletteIndex(value);
  const lightness = [0.5, 0.62, 0.4][index % 3] as number;
  return hslToRgb((index * GOLDEN_DEG) % 360, 0.62, lightness);
}

/** Place of a value in the palette: 0 for the neutral colour, else 1..255. */
export const paletteIndex = (value: number): number => (value > 0 ? 1 + ((value - 1) % (PALETTE_SIZE - 1)) : 0);

/** (4 * 256) the palette of a column as a texture. */
export function paletteTexels(column: string): Uint8Array {
  const out = new Uint8Array(4 * PALETTE_SIZE).fill(255);
  for (let i = 0; i < PALETTE_SIZE; i += 1) out.set(classColour(column, i), 4 * i);
  return out;
}

/** (4 * 256) the ramp as a texture. */
export function rampTexels(): Uint8Array {
  const out = new Uint8Array(4 * PALETTE_SIZE).fill(255);
  for (let i = 0; i < PALETTE_SIZE; i += 1) out.set(rampAt(i / (PALETTE_SIZE - 1)), 4 * i);
  return out;
}

export function cssOf([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

/** Source: CSS Color 4, section 7.1. */
function hslToRgb(hue: number, saturation: number, lightness: number): Rgb {
  const a = saturation * Math.min(lightness, 1 - lightness);
  const channel = (n: number) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (lightness - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}
