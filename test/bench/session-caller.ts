// Calls of session endpoints that are timed one by one; every answer is checked against its contract afterwards.
import { z } from "zod";
import { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import type { Box, Point } from "../../shared/contract/geometry.ts";
import { plotFiles } from "./inputs.ts";
import { memoryInfo, usageOf } from "./process.ts";
import type { Service } from "./service.ts";
import { now, type Stages, sleep, stageClock } from "./stage-clock.ts";

const HEAVY_MS = 600_000;

export interface Called<T> {
  readonly body: T;
  readonly s: number;
}

export class Caller {
  readonly #transport;
  constructor(service: Service) {
    this.#transport = service.transport();
  }
  async json<T>(answer: z.ZodType<T>, path: string, json: object = {}): Promise<Called<T>> {
    const started = now();
    const body = await this.#transport.json({ method: "POST", path, json, timeoutMs: HEAVY_MS });
    const s = now() - started;
    return { body: answer.parse(body), s };
  }
  async run<T>(
    answer: z.ZodType<T>,
    path: string,
    json: object = {},
  ): Promise<Called<T> & { readonly stages: Stages }> {
    const clock = stageClock();
    const started = now();
    const outcome = await this.#transport.run({ method: "POST", path, json, timeoutMs: HEAVY_MS }, clock);
    const s = now() - started;
    if (outcome.kind !== "json") throw new Error(`${path} ended as ${outcome.kind}`);
    return { body: answer.parse(outcome.value), s, stages: clock.stages() };
  }
}

/** For answers of which nothing is read. */
export const UNREAD = z.unknown();

export type Bounds = Pick<z.infer<typeof Box>, "min" | "max">;

/** Creates a session of the plot with `count` points. */
export async function opened(caller: Caller, count: number, more: { readonly world_shift?: Point } = {}) {
  const { las } = await plotFiles(count);
  const { body, s } = await caller.run(CreateSessionTail, "/api/cloud/session/create", { source_path: las, ...more });
  if (body.total_count !== count) throw new Error(`the service counts ${body.total_count} points, not ${count}`);
  return { bounds: body.tight_bounds ?? body.bounds, url: `/api/cloud/session/${body.session_id}`, create_s: s };
}

/** The middle share of a box, in every axis but z. */
export function middle({ min, max }: Bounds, share: number) {
  const half = (axis: 0 | 1) => (share * (max[axis] - min[axis])) / 2;
  const centre = (axis: 0 | 1) => (min[axis] + max[axis]) / 2;
  return {
    kind: "box",
    min: [centre(0) - half(0), centre(1) - half(1), min[2]],
    max: [centre(0) + half(0), centre(1) + half(1), max[2]],
  };
}

/**
 * Waits until the service has done what it does behind an answer and the system has written what that left in its cache:
 * a user's steps are seconds apart, and a step that waits for the one before measures that one.
 */
export async function drained(service: Service): Promise<void> {
  for (let i = 0; i < 200; i += 1) {
    const before = usageOf(service.pid).cpu_s;
    await sleep(300);
    if (usageOf(service.pid).cpu_s - before < 0.03) break;
  }
  const unwritten = () => (memoryInfo("Dirty") + memoryInfo("Writeback")) / 2 ** 20;
  for (let i = 0; i < 600 && unwritten() > 200; i += 1) await sleep(100);
}
