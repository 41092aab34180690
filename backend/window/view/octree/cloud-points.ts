import { Box3, BufferAttribute, BufferGeometry, Group, Points, Vector3 } from "three";
import type { Point } from "../../../../shared/contract/geometry.ts";
import type { CloudInput, WorldBox } from "../cloud-view.ts";
import { columnOf, type PointColours, TREE_COLUMN } from "../colours/resolve.ts";
import { columnColours, columnValues, localPositions } from "./columns.ts";
import type { IndexedNode, OctreeIndex } from "./octree-file.ts";
import { MODE, NO_CLIP, PointMaterial } from "./point-material.ts";

/** A node whose points are here. */
export interface LoadedNode {
  readonly node: IndexedNode;
  readonly bytes: Uint8Array;
  readonly points: Points<BufferGeometry, PointMaterial>;
  /** What the attributes `value` and `colour` contain; differs from the cloud's if they are to be made again. */
  painted: string;
  /** Frame in which it was last chosen. */
  used: number;
}

/** The points of one cloud. Its group stands at the stored frame's zero, seen from the scene's origin. */
export class CloudPoints {
  readonly group = new Group();
  readonly material = new PointMaterial();
  readonly loaded = new Map<string, LoadedNode>();
  readonly shift: Point;
  readonly input: CloudInput;
  readonly index: OctreeIndex;
  isVisible = true;
  /** Its octree was replaced: what is here is drawn, and no more is fetched. */
  isLeaving = false;
  #colours: PointColours = { mode: "flat" };
  #tree: number | null = null;
  #clip: WorldBox | null = null;

  constructor(input: CloudInput, index: OctreeIndex, origin: Point) {
    this.input = input;
    this.index = index;
    this.shift = input.world_shift ?? [0, 0, 0];
    this.group.position.set(...this.#toScene([0, 0, 0], origin));
    this.group.matrixAutoUpdate = true;
  }

  get metadata() {
    return this.index.metadata;
  }
  /** World box of the points. */
  get bounds(): WorldBox {
    const { min, max } = this.input.octree.tight_bounds ?? this.metadata.bounds;
    const world = ([x, y, z]: readonly [number, number, number]): Point => [
      x + this.shift[0],
      y + this.shift[1],
      z + this.shift[2],
    ];
    return { min: world(min), max: world(max) };
  }
  get pointCount(): number {
    let sum = 0;
    for (const { node } of this.loaded.values()) sum += node.point_count;
    return sum;
  }

  #toScene([x, y, z]: Point, origin: Point): Point {
    return [x + this.shift[0] - origin[0], y + this.shift[1] - origin[1], z + this.shift[2] - origin[2]];
  }

  /** Makes the points of a node; they are not drawn before show(). */
  add(node: IndexedNode, bytes: Uint8Array): void {
    const origin = node.bounds.min as Point;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(localPositions(bytes, this.metadata, origin), 3));
    const size = new Vector3(...node.bounds.max).sub(new Vector3(...origin));
    geometry.boundingBox = new Box3(new Vector3(), size);
    const points = new Points(geometry, this.material);
    points.position.set(...origin);
    points.frustumCulled = false; // chosen already
    points.onBeforeRender = () => this.#prepare(origin);
    points.visible = false;
    this.group.add(points);
    this.loaded.set(node.name, { node, bytes, points, painted: "", used: 0 });
  }

  /** Sets what differs from node to node. */
  #prepare(origin: Point): void {
    const { material, shift } = this;
    material.set("nodeHeight", origin[2] + shift[2] - this.#heightBase());
    const clip = this.#clip;
    const local = (corner: Point, axis: 0 | 1 | 2) => corner[axis] - shift[axis] - origin[axis];
    const set = (name: string, corner: Point | undefined, none: number) => {
      const vector = material.uniforms[name]?.value as Vector3;
      if (corner) vector.set(local(corner, 0), local(corner, 1), local(corner, 2));
      else vector.setScalar(none);
    };
    set("clipMin", clip?.min, -NO_CLIP);
    set("clipMax", clip?.max, NO_CLIP);
    material.uniformsNeedUpdate = true;
  }

  /** Heights and values reach the shader less their base, so that float32 keeps their fractions. */
  #heightBase(): number {
    return this.#colours.mode === "height" ? this.#colours.range[0] : 0;
  }

  setClip(clip: WorldBox | null): void {
    this.#clip = clip;
  }

  setColours(colours: PointColours, tree: number | null): void {
    this.#colours = colours;
    this.#tree = columnOf(this, TREE_COLUMN) ? tree : null;
    const { material } = this;
    material.set("mode", MODE[colours.mode]);
    material.set("tree", this.#tree ?? -1);
    if (colours.mode === "height" || colours.mode === "ramp")
      material.set("range", [0, colours.range[1] - colours.range[0]]);
    if (colours.mode === "class") material.setPalette(colours.column.name);
  }

  #paint(): string {
    const how = this.#colours;
    const column = how.mode === "ramp" || how.mode === "class" ? `${how.mode} ${how.column.name}` : how.mode;
    const base = how.mode === "ramp" ? how.range[0] : 0;
    return `${column} ${base} ${this.#tree === null ? "" : TREE_COLUMN}`;
  }

  /** Draws the chosen nodes that are here, and returns how many points that are. */
  show(chosen: ReadonlySet<string>, frame: number): number {
    const paint = this.#paint();
    let count = 0;
    for (const loaded of this.loaded.values()) {
      const isShown = this.isVisible && chosen.has(loaded.node.name);
      loaded.points.visible = isShown;
      if (!isShown) continue;
      loaded.used = frame;
      count += loaded.node.point_count;
      if (loaded.painted !== paint) this.#repaint(loaded, paint);
    }
    return count;
  }

  #repaint(loaded: LoadedNode, paint: string): void {
    const { bytes } = loaded;
    const { geometry } = loaded.points;
    const how = this.#colours;
    geometry.dispose(); // the card's memory of a deleted attribute would wait for the garbage collector
    for (const name of ["colour", "value", "treeId"]) geometry.deleteAttribute(name);
    const colours = how.mode === "rgb" ? columnColours(bytes, this.metadata) : null;
    if (colours) geometry.setAttribute("colour", new BufferAttribute(colours, 4, true));
    if (how.mode === "ramp" || how.mode === "class") {
      const base = how.mode === "ramp" ? how.range[0] : 0;
      geometry.setAttribute("value", new BufferAttribute(columnValues(bytes, this.metadata, how.column, base), 1));
    }
    const trees = this.#tree === null ? undefined : columnOf(this, TREE_COLUMN);
    if (trees) geometry.setAttribute("treeId", new BufferAttribute(columnValues(bytes, this.metadata, trees, 0), 1));
    loaded.painted = paint;
  }

  remove(name: string): void {
    const loaded = this.loaded.get(name);
    if (!loaded) return;
    this.group.remove(loaded.points);
    loaded.points.geometry.dispose();
    this.loaded.delete(name);
  }

  dispose(): void {
    for (const name of [...this.loaded.keys()]) this.remove(name);
    this.material.dispose();
    this.group.removeFromParent();
  }
}
