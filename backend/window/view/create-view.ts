import type { Group } from "three";
import { ApiError } from "../../../shared/client/index.ts";
import type { Point } from "../../../shared/contract/geometry.ts";
import { CloudSet } from "./cloud-set.ts";
import type {
  CloudInput,
  CloudView,
  CloudViewOptions,
  Colouring,
  Legend,
  ViewObject,
  ViewStats,
  ViewStrings,
  WorldBox,
} from "./cloud-view.ts";
import { legendOf } from "./colours/legend.ts";
import { columnInfos } from "./colours/resolve.ts";
import { Handlers } from "./handlers.ts";
import { meshGroup, surfaceMesh } from "./objects/meshes.ts";
import { placed } from "./objects/place.ts";
import { plantGroup } from "./objects/plants.ts";
import { qsmGroup } from "./objects/qsm.ts";
import { POINT_BUDGET, Streaming } from "./octree/streaming.ts";
import { joined, Stage, sceneVector } from "./stage.ts";
import { Tools } from "./tools/tools.ts";

const STATS_MS = 500;

/** The view on a canvas in `holder`. Errors: Error where the browser has no WebGL 2. */
export function createCloudView(holder: HTMLElement, options: CloudViewOptions): CloudView {
  return new View(holder, options);
}

class View implements CloudView {
  readonly #strings: ViewStrings;
  readonly #stage: Stage;
  readonly #clouds: CloudSet;
  readonly #streaming: Streaming;
  readonly #tools: Tools;
  readonly #legends = new Handlers<Legend | null>();
  readonly #statsHandlers = new Handlers<ViewStats>();
  readonly #problems = new Handlers<string>();
  readonly #evicted = new Handlers<string>();
  readonly #statsTimer: ReturnType<typeof setInterval>;
  #lastStats = "";
  #isFitted = false;

  constructor(holder: HTMLElement, { strings, fetchOctreeFile }: CloudViewOptions) {
    this.#strings = strings;
    this.#stage = new Stage(holder, strings.canvasLabel, {
      prepare: (isMoving) => this.#prepare(isMoving),
      drawn: () => this.#tools.draw(),
    });
    this.#clouds = new CloudSet(this.#stage, fetchOctreeFile);
    this.#streaming = new Streaming(fetchOctreeFile, () => this.#clouds.all, {
      changed: () => this.#stage.invalidate(),
      problem: (error, cacheId) => this.#tellProblem(error, cacheId),
    });
    this.#tools = new Tools(this.#stage, this.#clouds, () => this.#streaming.isComplete);
    this.#stage.canvas.addEventListener("keydown", (event) => {
      if (event.key !== "Home") return;
      this.fit();
      event.preventDefault();
    });
    this.#statsTimer = setInterval(() => this.#tellStats(), STATS_MS);
  }

  #prepare(isMoving: boolean): void {
    const { camera, height, pixelRatio, movingPoints } = this.#stage;
    const seen = joined(this.#clouds.sceneBox(), this.#stage.objectBox());
    const budget = isMoving ? Math.min(POINT_BUDGET, movingPoints) : POINT_BUDGET;
    camera.updateMatrixWorld();
    this.#clouds.dropReplaced();
    this.#streaming.update(camera, height * pixelRatio, this.#clouds.clip, budget);
    this.#stage.shownPoints = this.#streaming.shownPoints;
    this.#stage.render(seen);
  }

  #tellProblem(error: unknown, cacheId: string): void {
    if (!(error instanceof ApiError && error.status === 404)) {
      this.#problems.call(error instanceof Error ? error.message : String(error));
      return;
    }
    for (const { input, index, isLeaving } of this.#clouds.all)
      if (index.cache_id === cacheId && !isLeaving) this.#evicted.call(input.session_id);
  }

  #tellStats(): void {
    const stats = this.stats();
    const text = JSON.stringify([stats.frames_per_second, stats.visible_points, stats.pending_nodes]);
    if (text === this.#lastStats) return;
    this.#lastStats = text;
    this.#statsHandlers.call(stats);
  }

  #tellLegend(): void {
    this.#legends.call(this.legend());
    this.#tools.refreshProfile();
  }

  async addCloud(cloud: CloudInput): Promise<void> {
    const isNew = await this.#clouds.put(cloud);
    this.#streaming.retry(); // it may be the same octree, built again
    if (!isNew) return;
    if (!this.#isFitted) this.fit();
    this.#tellLegend();
    await this.#firstPoints(cloud.session_id);
  }

  updateCloud(cloud: CloudInput): Promise<void> {
    return this.addCloud(cloud);
  }

  /** Resolves when the points of the root are there, or need not come because it is not in the view. */
  async #firstPoints(id: string): Promise<void> {
    for (;;) {
      const cloud = this.#clouds.get(id);
      if (!cloud?.index.root || !cloud.isVisible || cloud.loaded.size > 0) return;
      if (this.#streaming.isComplete && this.#streaming.pendingNodes === 0 && !this.#stage.isMoving) return;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }

  removeCloud(sessionId: string): void {
    this.#clouds.remove(sessionId);
    if (this.#clouds.list.length === 0 && this.#stage.objects.children.length === 0) {
      this.#clouds.origin = null;
      this.#isFitted = false;
    }
    this.#tellLegend();
  }
  setVisible(sessionId: string, visible: boolean): void {
    const cloud = this.#clouds.get(sessionId);
    if (cloud) cloud.isVisible = visible;
    this.#stage.invalidate();
  }
  columns() {
    return columnInfos(this.#clouds.list);
  }
  setColouring(colouring: Colouring): void {
    this.#clouds.colouring = colouring;
    this.#clouds.restyle();
    this.#tellLegend();
  }
  colouring(): Colouring {
    return this.#clouds.colouring;
  }
  legend(): Legend | null {
    return legendOf(this.#clouds.colours, this.#clouds.colouring, this.#strings);
  }
  setPointSize(pixels: number): void {
    this.#clouds.pointSize = Math.min(16, Math.max(1, pixels));
    this.#clouds.restyle();
  }
  setClipBox(box: WorldBox | null): void {
    this.#clouds.clip = box;
    this.#clouds.restyle();
    this.#tools.refreshProfile();
  }
  clipBox = () => this.#clouds.clip;
  bounds = () => this.#clouds.bounds();

  setTool: CloudView["setTool"] = (tool) => this.#tools.set(tool);
  tool: CloudView["tool"] = () => this.#tools.input.tool;
  onTool: CloudView["onTool"] = (handler) => this.#tools.changed.add(handler);
  selectClipBox: CloudView["selectClipBox"] = () => this.#tools.selectClipBox();
  setBrushSize(pixels: number): void {
    this.#tools.input.brushHalf = pixels;
  }
  setProfileWidth(metres: number): void {
    this.#tools.profileWidth = metres;
    this.#tools.refreshProfile();
  }
  onLegend: CloudView["onLegend"] = (handler) => this.#legends.add(handler);
  onSelection: CloudView["onSelection"] = (handler) => this.#tools.selected.add(handler);
  onMeasure: CloudView["onMeasure"] = (handler) => this.#tools.measured.add(handler);
  onProfile: CloudView["onProfile"] = (handler) => this.#tools.profiled.add(handler);
  onPick: CloudView["onPick"] = (handler) => this.#tools.picked.add(handler);
  onStats: CloudView["onStats"] = (handler) => this.#statsHandlers.add(handler);
  onProblem: CloudView["onProblem"] = (handler) => this.#problems.add(handler);
  onEvicted: CloudView["onEvicted"] = (handler) => this.#evicted.add(handler);
  clearMarks(): void {
    this.#tools.clear();
  }
  highlightTree(id: number | null): void {
    this.#clouds.tree = id;
    this.#clouds.restyle();
  }

  addMesh: CloudView["addMesh"] = (mesh) => this.#place(mesh.name, meshGroup(mesh), mesh.origin);
  addSurface: CloudView["addSurface"] = (surface) => this.addMesh(surfaceMesh(surface));
  addQsm: CloudView["addQsm"] = (qsm) => {
    const { group, origin } = qsmGroup(qsm);
    return this.#place(qsm.name, group, origin);
  };
  addPlant: CloudView["addPlant"] = (plant) => this.#place(plant.name, plantGroup(plant), plant.origin);

  #place(name: string, group: Group, at: Point): ViewObject {
    this.#clouds.origin ??= [Math.round(at[0]), Math.round(at[1]), Math.round(at[2])];
    group.position.copy(sceneVector(at, this.#clouds.origin));
    this.#stage.objects.add(group);
    if (!this.#isFitted) this.fit();
    this.#stage.invalidate();
    const changed = () => this.#stage.invalidate();
    return placed(name, group, changed);
  }

  fit(box?: WorldBox): void {
    const { origin } = this.#clouds;
    if (!origin) return;
    const wanted = box ?? this.#clouds.clip;
    const seen = wanted
      ? { min: sceneVector(wanted.min, origin), max: sceneVector(wanted.max, origin) }
      : joined(this.#clouds.sceneBox(), this.#stage.objectBox());
    if (!seen) return;
    this.#stage.control.fit(seen, !this.#isFitted);
    this.#isFitted = true;
  }

  stats(): ViewStats {
    return {
      frames_per_second: this.#stage.framesPerSecond,
      frame_ms: this.#stage.frameMs,
      visible_points: this.#streaming.shownPoints,
      loaded_points: this.#clouds.all.reduce((sum, cloud) => sum + cloud.pointCount, 0),
      pending_nodes: this.#streaming.pendingNodes,
    };
  }

  dispose(): void {
    clearInterval(this.#statsTimer);
    this.#streaming.dispose();
    this.#tools.dispose();
    this.#clouds.dispose();
    this.#stage.dispose();
  }
}
