import { expect } from "vitest";
import { PlantGenerationResponse } from "../../../shared/contract/plant.ts";
import type { FrameArray } from "../../../shared/wire/phb1.ts";
import type { TestApp } from "../app/app.ts";
import { readRun } from "../app/run-body.ts";

/** POSTs JSON and returns status and body. */
export async function posted(made: TestApp, url: string, payload: object) {
  const answer = await made.app.inject({ method: "POST", url, payload });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() as Record<string, unknown> };
}

/** A build as JSON, checked against its contract and the invariants of its lengths. */
export async function build(made: TestApp, url: string, payload: object): Promise<PlantGenerationResponse> {
  const { status, body } = await posted(made, url, payload);
  expect(status, JSON.stringify(body).slice(0, 500)).toBe(200);
  const plant = PlantGenerationResponse.parse(body);
  if (plant.success) checkLengths(plant);
  return plant;
}

/** Lengths of the arrays of a mesh. */
export function checkLengths(plant: {
  vertices: unknown[];
  indices: number[][];
  normals: unknown[] | null;
  colors: unknown[] | null;
  uv_coordinates: unknown[] | null;
  organ_codes: number[] | null;
  vertex_count: number;
  triangle_count: number;
  material_groups: { triangle_indices: number[] }[] | null;
}): void {
  const { triangle_count: t } = plant;
  expect(t).toBeGreaterThan(0);
  expect([plant.vertices.length, plant.normals?.length, plant.colors?.length]).toEqual([3 * t, 3 * t, 3 * t]);
  expect([plant.vertex_count, plant.indices.length, plant.organ_codes?.length]).toEqual([3 * t, t, t]);
  expect(plant.indices.every(([a, b, c], i) => a === 3 * i && b === 3 * i + 1 && c === 3 * i + 2)).toBe(true);
  expect(plant.organ_codes?.every((code) => code >= 0 && code <= 6)).toBe(true);
  if (plant.uv_coordinates) expect(plant.uv_coordinates).toHaveLength(3 * t);
  for (const { triangle_indices } of plant.material_groups ?? [])
    expect(triangle_indices.every((i, at, all) => i < t && (at === 0 || i > (all[at - 1] ?? 0)))).toBe(true);
}

/** A build as a frame. */
export async function framed(made: TestApp, url: string, payload: object) {
  const headers = { accept: "application/octet-stream" };
  const { rawPayload, statusCode } = await made.app.inject({ method: "POST", url, payload, headers });
  expect(statusCode).toBe(200);
  const { markers, outcome } = readRun(rawPayload);
  if (outcome.kind === "failed" && outcome.tail) {
    return { markers, meta: outcome.tail as Record<string, unknown>, buffers: new Map<string, FrameArray>() };
  }
  if (outcome.kind !== "frame") throw new Error(`no frame: ${JSON.stringify(outcome).slice(0, 500)}`);
  return { markers, ...outcome.frame };
}
