import { DataTexture, GLSL3, NearestFilter, RGBAFormat, ShaderMaterial, UnsignedByteType, Vector3 } from "three";
import { HIGHLIGHT, PALETTE_SIZE, paletteTexels, rampTexels } from "../colours/palettes.ts";

/** What `mode` of the shader means. */
export const MODE = { flat: 0, rgb: 1, height: 2, ramp: 3, class: 4 } as const;

const VERTEX = `
uniform float size;
uniform int mode;
uniform float nodeHeight;
uniform vec2 range;
uniform vec3 clipMin;
uniform vec3 clipMax;
uniform float tree;
uniform vec3 flatColour;
uniform sampler2D ramp;
uniform sampler2D palette;
in vec4 colour;
in float value;
in float treeId;
out vec3 shade;

vec3 lookUp(sampler2D table, float index) {
  return texelFetch(table, ivec2(int(clamp(index, 0.0, 255.0)), 0), 0).rgb;
}
vec3 classed(float v) {
  float index = v > 0.5 ? 1.0 + mod(floor(v + 0.5) - 1.0, 255.0) : 0.0;
  return lookUp(palette, index);
}
vec3 ramped(float v) {
  return lookUp(ramp, 255.0 * clamp((v - range.x) / max(range.y - range.x, 1e-9), 0.0, 1.0));
}
void main() {
  shade = flatColour;
  if (mode == 1) shade = colour.rgb;
  else if (mode == 2) shade = ramped(position.z + nodeHeight);
  else if (mode == 3) shade = ramped(value);
  else if (mode == 4) shade = classed(value);
  float scale = 1.0;
  if (tree >= 0.0) {
    bool isTree = abs(treeId - tree) < 0.5;
    shade = isTree ? mix(HIGHLIGHT, shade, 0.15) : mix(shade, vec3(0.62), 0.75);
    if (isTree) scale = 1.5;
  }
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = size * scale;
  bool inside = all(greaterThanEqual(position, clipMin)) && all(lessThanEqual(position, clipMax));
  if (!inside) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

const FRAGMENT = `
in vec3 shade;
out vec4 colourOut;
void main() {
  vec2 from = 2.0 * gl_PointCoord - 1.0;
  if (dot(from, from) > 1.0) discard;
  colourOut = vec4(shade, 1.0);
}`;

const FRAGMENT_SQUARE = `
in vec3 shade;
out vec4 colourOut;
void main() {
  colourOut = vec4(shade, 1.0);
}`;

function table(texels: Uint8Array): DataTexture {
  const texture = new DataTexture(texels, PALETTE_SIZE, 1, RGBAFormat, UnsignedByteType);
  texture.minFilter = NearestFilter;
  texture.magFilter = NearestFilter;
  texture.needsUpdate = true;
  return texture;
}

/** Far outside of every cloud: no clipping. */
export const NO_CLIP = 1e30;

/**
 * Material of the points of one cloud. `nodeHeight`, `clipMin` and `clipMax` change from node to node and are set before
 * each of them is drawn; colours are displayed as they are, without light.
 */
export class PointMaterial extends ShaderMaterial {
  readonly #ramp: DataTexture;
  #palette: DataTexture;
  #paletteOf = "";
  #isRound = false;

  constructor() {
    const ramp = table(rampTexels());
    const palette = table(paletteTexels(""));
    super({
      glslVersion: GLSL3,
      defines: { HIGHLIGHT: `vec3(${HIGHLIGHT.map((c) => (c / 255).toFixed(4)).join(", ")})` },
      uniforms: {
        size: { value: 2 },
        mode: { value: MODE.flat },
        nodeHeight: { value: 0 },
        range: { value: [0, 1] },
        clipMin: { value: new Vector3().setScalar(-NO_CLIP) },
        clipMax: { value: new Vector3().setScalar(NO_CLIP) },
        tree: { value: -1 },
        flatColour: { value: new Vector3(0.42, 0.5, 0.46) },
        ramp: { value: ramp },
        palette: { value: palette },
      },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT_SQUARE,
    });
    this.#ramp = ramp;
    this.#palette = palette;
  }

  set(name: string, value: unknown): void {
    const uniform = this.uniforms[name];
    if (uniform) uniform.value = value;
  }

  /** Edge of a point, device pixels. Large points are round: square ones look like tiles. */
  setSize(pixels: number): void {
    this.set("size", pixels);
    const isRound = pixels > 3;
    if (isRound === this.#isRound) return;
    this.#isRound = isRound;
    this.fragmentShader = isRound ? FRAGMENT : FRAGMENT_SQUARE;
    this.needsUpdate = true;
  }

  /** Colours of the classes of a column. */
  setPalette(column: string): void {
    if (column === this.#paletteOf) return;
    this.#palette.dispose();
    this.#palette = table(paletteTexels(column));
    this.#paletteOf = column;
    this.set("palette", this.#palette);
  }

  override dispose(): void {
    this.#ramp.dispose();
    this.#palette.dispose();
    super.dispose();
  }
}
