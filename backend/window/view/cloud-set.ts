import { Box3 } from "three";
import type { Point } from "../../../shared/contract/geometry.ts";
import type { CloudInput, Colouring, FetchOctreeFile, WorldBox } from "./cloud-view.ts";
import { type PointColours, resolveColours } from "./colours/resolve.ts";
import { CloudPoints } from "./octree/cloud-points.ts";
import { openOctree } from "./octree/octree-file.ts";
import { type Stage, sceneVector } from "./stage.ts";

/** The clouds of the view, and how all of them are drawn. */
export class CloudSet {
  /** World position of the scene's zero; the first thing that is shown sets it. */
  origin: Point | null = null;
  colouring: Colouring = { kind: "height" };
  clip: WorldBox | null = null;
  tree: number | null = null;
  pointSize = 2;
  colours: ReadonlyMap<CloudPoints, PointColours> = new Map();
  readonly #clouds = new Map<string, CloudPoints>();
  /** Clouds whose octree is replaced: drawn until the new one has points. */
  readonly #leaving = new Set<CloudPoints>();
  readonly #turns = new Map<string, number>();
  readonly #stage: Stage;
  readonly #fetch: FetchOctreeFile;

  constructor(stage: Stage, fetchFile: FetchOctreeFile) {
    this.#stage = stage;
    this.#fetch = fetchFile;
  }

  /** All clouds that are drawn, also those that are being replaced. */
  get all(): readonly CloudPoints[] {
    return [...this.#clouds.values(), ...this.#leaving];
  }
  /** Without those that are being replaced. */
  get list(): readonly CloudPoints[] {
    return [...this.#clouds.values()];
  }
  get visible(): readonly CloudPoints[] {
    return this.list.filter(({ isVisible }) => isVisible);
  }

  /** Adds or replaces a cloud. False if a later call for the same session came first. Errors: the octree's. */
  async put(input: CloudInput): Promise<boolean> {
    const id = input.session_id;
    const turn = (this.#turns.get(id) ?? 0) + 1;
    this.#turns.set(id, turn);
    const index = await openOctree(input.octree.cache_id, this.#fetch);
    if (this.#turns.get(id) !== turn) return false;
    const before = this.#clouds.get(id);
    this.origin ??= centreOf(new CloudPoints(input, index, [0, 0, 0]).bounds);
    const cloud = new CloudPoints(input, index, this.origin);
    cloud.isVisible = before?.isVisible ?? true;
    if (before) this.#leave(before);
    this.#clouds.set(id, cloud);
    this.#stage.scene.add(cloud.group);
    this.restyle();
    return true;
  }

  /** Keeps one picture of a replaced cloud: the newest with points. */
  #leave(before: CloudPoints): void {
    if (before.loaded.size === 0) {
      before.dispose();
      return;
    }
    const { session_id } = before.input;
    for (const old of this.#leaving) {
      if (old.input.session_id !== session_id) continue;
      this.#leaving.delete(old);
      old.dispose();
    }
    before.isLeaving = true;
    this.#leaving.add(before);
  }

  /** Drops clouds whose successors have points or are hidden. */
  dropReplaced(): void {
    for (const old of this.#leaving) {
      const successor = this.#clouds.get(old.input.session_id);
      const isAwaited = successor?.isVisible && successor.loaded.size === 0 && successor.index.root !== undefined;
      if (isAwaited) continue;
      this.#leaving.delete(old);
      old.dispose();
    }
  }

  get(id: string): CloudPoints | undefined {
    return this.#clouds.get(id);
  }

  remove(id: string): void {
    this.#turns.set(id, (this.#turns.get(id) ?? 0) + 1);
    this.#clouds.get(id)?.dispose();
    this.#clouds.delete(id);
    this.dropReplaced();
    this.restyle();
  }

  /** Applies colours, clip box, point size and highlight to every cloud. */
  restyle(): void {
    const clouds = this.all;
    this.colours = resolveColours(clouds, this.colouring);
    for (const cloud of clouds) {
      cloud.setColours(this.colours.get(cloud) ?? { mode: "flat" }, this.tree);
      cloud.setClip(this.clip);
      cloud.material.setSize(this.pointSize * this.#stage.pixelRatio);
    }
    this.#stage.invalidate();
  }

  /** World box of the visible clouds, within the clip box; null without a cloud. */
  bounds(): WorldBox | null {
    const boxes = this.visible.map(({ bounds }) => bounds);
    if (boxes.length === 0) return null;
    const pick = (end: "min" | "max", axis: 0 | 1 | 2) =>
      boxes.reduce((best, box) => Math[end](best, box[end][axis]), end === "min" ? Infinity : -Infinity);
    const corner = (end: "min" | "max"): Point => [pick(end, 0), pick(end, 1), pick(end, 2)];
    return { min: corner("min"), max: corner("max") };
  }

  /** The same in the scene, empty without a cloud. */
  sceneBox(): Box3 {
    const bounds = this.bounds();
    if (!bounds || !this.origin) return new Box3();
    return new Box3(sceneVector(bounds.min, this.origin), sceneVector(bounds.max, this.origin));
  }

  dispose(): void {
    for (const cloud of this.all) cloud.dispose();
    this.#clouds.clear();
    this.#leaving.clear();
  }
}

function centreOf({ min, max }: WorldBox): Point {
  return [Math.round((min[0] + max[0]) / 2), Math.round((min[1] + max[1]) / 2), Math.round((min[2] + max[2]) / 2)];
}
