import type { z } from "zod";
import { BulkNumbers } from "./geometry.ts";
import { IcpTuning } from "./icp.ts";

const vertices = (side: string) =>
  BulkNumbers.describe(
    `(3 * V) x, y, z of each ${side} vertex in turn, metres; any other length: 400; empty: an error in the tail`,
  );
const indices = (side: string) =>
  BulkNumbers.describe(
    `(3 * T) vertices of each ${side} triangle, from 0; any other length, or an index beyond the vertices: 400; empty: an error in the tail`,
  );

export const MeshPairRegisterRequest = IcpTuning.extend({
  target_vertices: vertices("target"),
  target_indices: indices("target"),
  source_vertices: vertices("source"),
  source_indices: indices("source"),
}).meta({ id: "MeshPairRegisterRequest" });
export type MeshPairRegisterRequest = z.infer<typeof MeshPairRegisterRequest>;
