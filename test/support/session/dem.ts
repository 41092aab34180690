import type { z } from "zod";
import { DemFailure, DemSuccess } from "../../../shared/contract/dem.ts";
import type { Frame } from "../../../shared/wire/phb1.ts";
import { run, type TestApp } from "../app/app.ts";
import { checked } from "./session-edits.ts";

export type Point = [number, number, number];

/** A point at the centre of every cell of a grid of 1 m from the origin on. */
export function gridPoints(nx: number, ny: number, z: (x: number, y: number) => number): Point[] {
  return Array.from({ length: nx * ny }, (_, c) => {
    const x = (c % nx) + 0.5;
    const y = Math.floor(c / nx) + 0.5;
    return [x, y, z(x, y)];
  });
}

/** Box of a grid of 1 m with so many cells. */
export const boxOf = (nx: number, ny: number) => [0, 0, nx, ny];

/** A frame that reports success. */
export interface FrameAnswer<Meta> {
  readonly meta: Meta;
  readonly stages: readonly (readonly [number | null, string])[];
  f32(name: string): number[];
  u32(name: string): number[];
  readonly names: readonly string[];
}

export type DemAnswer = FrameAnswer<DemSuccess & Record<string, unknown>>;

/** The frame of a DEM that succeeds. `schema` checks its meta. */
export const dem = (made: TestApp, url: string, payload: object, schema = DemSuccess): Promise<DemAnswer> =>
  frameOf(made, url, payload, schema) as Promise<DemAnswer>;

/** The frame of a run that succeeds. `schema` checks its meta. */
export async function frameOf<S extends z.ZodType>(
  made: TestApp,
  url: string,
  payload: object,
  schema: S,
): Promise<FrameAnswer<z.output<S>>> {
  const { outcome, markers } = await run(made, url, payload);
  if (outcome.kind !== "frame") throw new Error(`${url}: ${JSON.stringify(outcome).slice(0, 500)}`);
  const { frame } = outcome;
  return {
    meta: checked(schema, frame.meta),
    stages: markers.map(({ progress, message }) => [progress, message] as const),
    f32: (name) => values(frame, name, Float32Array),
    u32: (name) => values(frame, name, Uint32Array),
    names: [...frame.buffers.keys()],
  };
}

function values(frame: Frame, name: string, kind: typeof Float32Array | typeof Uint32Array): number[] {
  const buffer = frame.buffers.get(name);
  if (!(buffer instanceof kind)) throw new Error(`${name} is no ${kind.name}`);
  return [...buffer];
}

/** The meta of a DEM that fails in its frame. */
export async function failedDem(made: TestApp, url: string, payload: object): Promise<DemFailure> {
  const { outcome } = await run(made, url, payload);
  if (outcome.kind !== "failed") throw new Error(`${url} did not fail: ${JSON.stringify(outcome).slice(0, 300)}`);
  return checked(DemFailure, outcome.tail);
}
