export type Rgb = readonly [number, number, number];

/**
 * Viridis at 0, 0.1, ... 1 (sRGB): lightness increases evenly; readable with every form of colour blindness.
 * Source: S. van der Walt and N. Smith, matplotlib 1.5 colour maps, published under CC0.
 */
const VIRIDIS: readonly Rgb[] = [
  [0x44, 0x01, 0x54],
  [0x48, 0x24, 0x75],
  [0x41, 0x44, 0x87],
  [0x35, 0x5f, 0x8d],
  [0x2a, 0x78, 0x8e],
  [0x21, 0x91, 0x8c],
  [0x22, 0xa8, 0x84],
  [0x44, 0xbf, 0x70],
  [0x7a, 0xd1, 0x51],
  [0xbd, 0xdf, 0x26],
  [0xfd, 0xe7, 0x25],
];

/** Greys that differ from the white page at both ends. */
const GREYS: readonly Rgb[] = [
  [0x16, 0x18, 0x1c],
  [0xdc, 0xde, 0xe0],
];

/**
 * Blue, white, red: the sign of a value and its size. Source: Moreland 2009, "Diverging color maps for scientific
 * visualization", the end colours and the middle of its cool-warm map.
 */
const COOL_WARM: readonly Rgb[] = [
  [0x3b, 0x4c, 0xc0],
  [0x68, 0x8a, 0xef],
  [0x99, 0xba, 0xff],
  [0xc9, 0xd8, 0xef],
  [0xdd, 0xdd, 0xdd],
  [0xed, 0xd1, 0xc2],
  [0xf7, 0xa8, 0x89],
  [0xe2, 0x69, 0x52],
  [0xb4, 0x04, 0x26],
];

export type RampName = "viridis" | "greys" | "cool_warm";
const ramps: Record<RampName, readonly Rgb[]> = { viridis: VIRIDIS, greys: GREYS, cool_warm: COOL_WARM };

/** Colour at `t` (0..1, clamped; NaN counts as 0), interpolated linearly. */
export function rampColor(name: RampName, t: number): Rgb {
  const table = ramps[name];
  const at = Math.min(1, Math.max(0, t || 0)) * (table.length - 1);
  const low = table[Math.floor(at)] ?? [0, 0, 0];
  const high = table[Math.ceil(at)] ?? low;
  const mix = (k: 0 | 1 | 2) => Math.round(low[k] + (high[k] - low[k]) * (at - Math.floor(at)));
  return [mix(0), mix(1), mix(2)];
}

/** The ramp as 256 colours, r g b interleaved. */
export function rampTable(name: RampName): Uint8Array {
  const out = new Uint8Array(3 * 256);
  for (let i = 0; i < 256; i += 1) out.set(rampColor(name, i / 255), 3 * i);
  return out;
}
