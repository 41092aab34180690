import { BufferAttribute, BufferGeometry, Color, DoubleSide, Group, Mesh, MeshLambertMaterial } from "three";
import type { MeshInput, SurfaceInput } from "../cloud-view.ts";
import { rampAt } from "../colours/palettes.ts";

const DEFAULT_COLOUR = "#8aa394";

/** Triangles. Their group is to be placed at `origin`. */
export function meshGroup({ vertices, indices, normals, colours, colour }: Omit<MeshInput, "name" | "origin">): Group {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(vertices, 3));
  if (indices) geometry.setIndex(new BufferAttribute(indices, 1));
  if (normals) geometry.setAttribute("normal", new BufferAttribute(normals, 3));
  else geometry.computeVertexNormals();
  if (colours) geometry.setAttribute("color", new BufferAttribute(linearColours(colours), 3));
  const material = new MeshLambertMaterial({
    side: DoubleSide,
    vertexColors: colours !== undefined,
    ...(colours ? {} : { color: colour ?? DEFAULT_COLOUR }),
  });
  const group = new Group();
  group.add(new Mesh(geometry, material));
  return group;
}

/** Vertex colours come as on the screen (sRGB); light is computed in linear values. */
function linearColours(colours: Float32Array): Float32Array {
  const out = new Float32Array(colours.length);
  const colour = new Color();
  for (let i = 0; i < colours.length; i += 3) {
    colour.setRGB(colours[i] ?? 0, colours[i + 1] ?? 0, colours[i + 2] ?? 0, "srgb");
    out.set([colour.r, colour.g, colour.b], i);
  }
  return out;
}

/** The mesh of a raster of heights: two triangles between four neighbouring cells that all have a value. */
export function surfaceMesh(surface: SurfaceInput): MeshInput {
  const { column_count: nx, row_count: ny, heights, cell_m, first_centre } = surface;
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < nx * ny; i += 1) {
    const z = heights[i] ?? Number.NaN;
    if (z < low) low = z;
    if (z > high) high = z;
  }
  const base = Number.isFinite(low) ? low : 0;
  const vertices = new Float32Array(3 * nx * ny);
  const colours = new Float32Array(3 * nx * ny);
  const span = Math.max(high - low, 1e-9);
  for (let i = 0; i < nx * ny; i += 1) {
    const z = heights[i] ?? Number.NaN;
    vertices.set([(i % nx) * cell_m, Math.floor(i / nx) * cell_m, z - base], 3 * i);
    colours.set(
      rampAt((z - low) / span).map((channel) => channel / 255),
      3 * i,
    );
  }
  const indices: number[] = [];
  const has = (i: number) => Number.isFinite(heights[i] ?? Number.NaN);
  for (let row = 0; row + 1 < ny; row += 1) {
    for (let column = 0; column + 1 < nx; column += 1) {
      const a = row * nx + column;
      const [b, c, d] = [a + 1, a + nx, a + nx + 1];
      if (has(a) && has(b) && has(d)) indices.push(a, b, d);
      if (has(a) && has(d) && has(c)) indices.push(a, d, c);
    }
  }
  for (let i = 2; i < vertices.length; i += 3) if (Number.isNaN(vertices[i])) vertices[i] = 0; // in no triangle
  const origin = [first_centre[0], first_centre[1], base] as [number, number, number];
  return { name: surface.name, origin, vertices, colours, indices: Uint32Array.from(indices) };
}
