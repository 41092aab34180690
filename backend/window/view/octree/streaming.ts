import { Frustum, Matrix4, type PerspectiveCamera } from "three";
import type { Point } from "../../../../shared/contract/geometry.ts";
import type { FetchOctreeFile, WorldBox } from "../cloud-view.ts";
import type { CloudPoints } from "./cloud-points.ts";
import { type Choosable, chooseNodes, type Eye } from "./node-choice.ts";
import { NodeLoader, type Wanted } from "./node-loader.ts";

/** Points drawn at most. */
export const POINT_BUDGET = 3_000_000;
/** Points kept in memory, so that turning back shows them at once. */
const KEPT_POINTS = 5_000_000;

export interface StreamingHandlers {
  /** Something new can be drawn. */
  readonly changed: () => void;
  readonly problem: (error: unknown, cacheId: string) => void;
}

/** Decides for every picture which nodes are drawn, fetched and forgotten. */
export class Streaming {
  readonly #clouds: () => readonly CloudPoints[];
  readonly #loader: NodeLoader;
  #frame = 0;
  #shown = 0;
  #missing = 0;

  constructor(fetchFile: FetchOctreeFile, clouds: () => readonly CloudPoints[], handlers: StreamingHandlers) {
    this.#clouds = clouds;
    this.#loader = new NodeLoader(fetchFile, {
      loaded: (wanted, bytes) => {
        this.#take(wanted, bytes);
        handlers.changed();
      },
      failed: ({ cache_id }, error) => {
        handlers.problem(error, cache_id);
        handlers.changed();
      },
    });
  }

  get shownPoints(): number {
    return this.#shown;
  }
  get pendingNodes(): number {
    return this.#loader.pending;
  }
  /** Whether all chosen nodes are drawn. */
  get isComplete(): boolean {
    return this.#missing === 0;
  }

  /** Asks again for what failed: the octree was built again. */
  retry(): void {
    this.#loader.retry();
  }

  #take({ cache_id, node }: Wanted, bytes: Uint8Array): void {
    for (const cloud of this.#clouds())
      if (cloud.index.cache_id === cache_id && !cloud.loaded.has(node.name)) cloud.add(node, bytes);
  }

  /** Chooses the nodes for the camera. `budget`: points to draw; fewer while the camera moves on slow machines. */
  update(camera: PerspectiveCamera, height: number, clip: WorldBox | null, budget: number): void {
    this.#frame += 1;
    const clouds = this.#clouds();
    const visible = clouds.filter(({ isVisible }) => isVisible);
    const chosen = chooseNodes(
      visible.map((cloud) => choosable(cloud, camera, height, clip)),
      Math.min(budget, POINT_BUDGET),
    );
    const byCloud = new Map<CloudPoints, Set<string>>(clouds.map((cloud) => [cloud, new Set()]));
    const wanted: Wanted[] = [];
    for (const { key, node } of chosen) {
      byCloud.get(key)?.add(node.name); // clouds with the same octree share fetched nodes
      if (!key.loaded.has(node.name) && !key.isLeaving) wanted.push({ cache_id: key.index.cache_id, node });
    }
    this.#missing = wanted.length;
    this.#loader.want(wanted);
    this.#shown = 0;
    for (const [cloud, nodes] of byCloud) this.#shown += cloud.show(nodes, this.#frame);
    this.#forget(clouds);
  }

  /** Forgets the nodes that were not drawn for longest, beyond what is kept. */
  #forget(clouds: readonly CloudPoints[]): void {
    let kept = clouds.reduce((sum, cloud) => sum + cloud.pointCount, 0);
    if (kept <= KEPT_POINTS) return;
    const idle = clouds.flatMap((cloud) => [...cloud.loaded.values()].map((loaded) => ({ cloud, loaded })));
    idle.sort((a, b) => a.loaded.used - b.loaded.used);
    for (const { cloud, loaded } of idle) {
      if (kept <= KEPT_POINTS || loaded.used === this.#frame) return;
      kept -= loaded.node.point_count;
      cloud.remove(loaded.node.name);
    }
  }

  dispose(): void {
    this.#loader.dispose();
  }
}

function choosable(
  cloud: CloudPoints,
  camera: PerspectiveCamera,
  height: number,
  clip: WorldBox | null,
): Choosable<CloudPoints> {
  const { index, group, shift } = cloud;
  return { key: cloud, root: index.root, spacing: index.metadata.spacing, eye: eyeOf() };

  function eyeOf(): Eye {
    const at = camera.position.clone().sub(group.position);
    const toStored = new Matrix4().makeTranslation(group.position);
    const matrix = camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse).multiply(toStored);
    const frustum = new Frustum().setFromProjectionMatrix(matrix);
    const stored = (corner: Point): Point => [corner[0] - shift[0], corner[1] - shift[1], corner[2] - shift[2]];
    return {
      position: [at.x, at.y, at.z],
      pixels_per_radian: height / (2 * Math.tan((camera.fov * Math.PI) / 360)),
      planes: frustum.planes.map(({ normal: { x, y, z }, constant }) => [x, y, z, constant] as const),
      clip: clip && { min: stored(clip.min), max: stored(clip.max) },
    };
  }
}
