// Tree segmentation of the service, through its endpoint, and a yardstick that knows the stems.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBackend } from "../../../backend/entry/serve.ts";
import { listBody } from "../../../shared/client/list-request.ts";
import { Transport } from "../../../shared/client/transport.ts";
import { LEAST_HITS } from "./score.ts";
import { ORGAN, type Stand } from "./stand.ts";

const PATH = "/api/segment/trees";
const HOUR_MS = 3_600_000;

/** Labels of a cloud, 0 = no tree, and how long the service took, seconds. */
export interface Segmented {
  readonly labels: ArrayLike<number>;
  readonly elapsed_s: number;
  readonly warnings: readonly string[];
}

interface Json {
  readonly [key: string]: unknown;
}

/** Values that a schema allows: all `enum` and `const` in it. */
function allowed(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { enum: values, const: value, ...rest } = schema as Json;
  const own = [...(Array.isArray(values) ? values : []), value].filter((one) => typeof one === "string");
  return [...own, ...Object.values(rest).flatMap(allowed)];
}

/** The service with folders of its own, which close() removes. */
export class TreeService {
  readonly #transport: Transport;
  readonly close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.#transport = new Transport({ baseUrl: url });
    this.close = close;
  }
  static async start(): Promise<TreeService> {
    const folder = mkdtempSync(join(tmpdir(), "accuracy-trees-"));
    const folders = { dataDir: join(folder, "data"), octreeCacheRoot: join(folder, "octrees") };
    const backend = await startBackend({ ...folders, port: 0, logLevel: "silent" });
    return new TreeService(backend.url, async () => {
      await backend.stop({ removeSessions: true });
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** Methods of the endpoint by its document; none where the service has no such endpoint. */
  async methods(): Promise<string[]> {
    const document = (await this.#transport.json({ method: "GET", path: "/openapi.json", timeoutMs: HOUR_MS })) as {
      readonly paths: Json;
      readonly components?: { readonly schemas?: Readonly<Record<string, { readonly properties?: Json }>> };
    };
    if (!(PATH in document.paths)) return [];
    return [...new Set(allowed(document.components?.schemas?.TreesRequest?.properties?.method))];
  }

  /** Segments a stand whose ground is known; the method's parameters are its defaults. */
  async segment(method: string, { points }: Stand): Promise<Segmented> {
    const request = {
      method,
      points: Float32Array.from(points.xyz),
      ground_class: Uint32Array.from(points.organ, (organ) => (organ === ORGAN.ground ? 1 : 2)),
      acknowledge_cost: true,
    };
    // A connection that idled while the stand was made may just be closing: a request that may fail finds out.
    await this.#transport.json({ method: "GET", path: "/health", timeoutMs: HOUR_MS }).catch(() => undefined);
    const call = { method: "POST", path: PATH, timeoutMs: HOUR_MS, ...listBody(request) } as const;
    const answer = (await this.#transport.json(call)) as Json;
    if (answer.success !== true) throw new Error(`${method}: ${String(answer.error)}`);
    return {
      labels: answer.labels as number[],
      elapsed_s: Number(answer.elapsed_s),
      warnings: [answer.fusion_warning, ...(answer.warnings as unknown[])].filter((one) => typeof one === "string"),
    };
  }
}

const CELL_M = 0.25;

/** Every point gets the true tree whose base is nearest in plan (of the middle of its cell of 25 cm): what a method should beat. */
export function nearestStem({ points, trees, side }: Stand): Segmented {
  const started = performance.now();
  const counted = trees.filter(({ hits }) => hits >= LEAST_HITS);
  const across = Math.ceil((side + 20) / CELL_M);
  const owner = new Uint32Array(across * across);
  const cell = (value: number) => Math.min(across - 1, Math.max(0, Math.floor((value + 10) / CELL_M)));
  const labels = Uint32Array.from(points.organ, (organ, i) => {
    if (organ === ORGAN.ground) return 0;
    const [column, row] = [cell(points.xyz[3 * i] ?? 0), cell(points.xyz[3 * i + 1] ?? 0)];
    const at = row * across + column;
    if (owner[at] === 0) {
      const [x, y] = [(column + 0.5) * CELL_M - 10, (row + 0.5) * CELL_M - 10];
      let [best, least] = [0, Infinity];
      for (const { id, base } of counted) {
        const distance = (base[0] - x) ** 2 + (base[1] - y) ** 2;
        if (distance < least) [best, least] = [id, distance];
      }
      owner[at] = best;
    }
    return owner[at] ?? 0;
  });
  return { labels, elapsed_s: (performance.now() - started) / 1000, warnings: [] };
}
