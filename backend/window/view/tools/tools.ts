import { Vector3 } from "three";
import type { Point } from "../../../../shared/contract/geometry.ts";
import type { CloudSet } from "../cloud-set.ts";
import type { Measurement, PickedPoint, Profile, Selection, Tool } from "../cloud-view.ts";
import { Handlers } from "../handlers.ts";
import { type Stage, sceneVector } from "../stage.ts";
import { MarkLayer } from "./marks.ts";
import { pickPoint } from "./pick.ts";
import { profileOf } from "./profile.ts";
import { boxRegion, type Drawn, selectionOf } from "./regions.ts";
import { isClickTool, isDragTool, ToolInput } from "./tool-input.ts";

/** Measure, profile, selections and picking on one view. */
export class Tools {
  readonly selected = new Handlers<Selection>();
  readonly measured = new Handlers<Measurement>();
  readonly profiled = new Handlers<Profile>();
  readonly picked = new Handlers<PickedPoint | null>();
  readonly changed = new Handlers<Tool>();
  readonly marks: MarkLayer;
  readonly input: ToolInput;
  profileWidth = 1;
  readonly #stage: Stage;
  readonly #clouds: CloudSet;
  readonly #isComplete: () => boolean;
  #first: Point | null = null;
  /** The band of the profile that is shown. */
  #band: readonly [Point, Point] | null = null;

  constructor(stage: Stage, clouds: CloudSet, isComplete: () => boolean) {
    this.#stage = stage;
    this.#clouds = clouds;
    this.#isComplete = isComplete;
    this.marks = new MarkLayer(stage.holder.ownerDocument);
    stage.holder.append(this.marks.canvas);
    this.input = new ToolInput(stage.canvas, this.marks, {
      click: (x, y) => this.#click(x, y),
      drawn: (tool, drawn) => this.#drawn(tool, drawn),
      redraw: () => stage.invalidate(),
      leave: () => this.set("navigate"),
    });
    stage.canvas.addEventListener("keydown", (event) => this.#key(event));
    stage.canvas.addEventListener("dblclick", (event) => this.#turnAround(event));
    for (const name of ["focus", "blur"]) stage.canvas.addEventListener(name, () => this.#showCross());
  }

  set(tool: Tool): void {
    this.input.cancel();
    this.input.tool = tool;
    this.#first = null;
    this.marks.kept.delete("first");
    this.#stage.control.setTurning(!isDragTool(tool));
    this.#stage.canvas.classList.toggle("aiming", tool !== "navigate");
    this.#showCross();
    this.changed.call(tool);
  }

  clear(): void {
    this.marks.kept.clear();
    this.#first = null;
    this.#band = null;
    this.#showCross();
  }

  /** Selects what is in the clip box; nothing without one. */
  selectClipBox(): void {
    const { clip } = this.#clouds;
    if (!clip) return;
    const entries = this.#clouds.visible.map((cloud) => {
      const region = boxRegion(clip, cloud.shift);
      return { session_id: cloud.input.session_id, region, limit_box: region };
    });
    if (entries.length > 0) this.selected.call({ tool: "box", entries });
  }

  draw(): void {
    const { camera, width, height, pixelRatio } = this.#stage;
    this.marks.draw(camera, this.#clouds.origin ?? [0, 0, 0], width, height, pixelRatio);
  }

  /** Places for the keyboard are at the centre of the view; a cross shows it. */
  #showCross(): void {
    const isShown = isClickTool(this.input.tool) && this.#stage.canvas.matches(":focus-visible");
    if (isShown) this.marks.kept.set("cross", { kind: "cross" });
    else this.marks.kept.delete("cross");
    this.#stage.invalidate();
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.input.key(event.key) || this.#stage.control.key(event)) event.preventDefault();
  }

  #pick(x: number, y: number): PickedPoint | null {
    const { camera, width, height } = this.#stage;
    camera.updateMatrixWorld();
    return pickPoint(this.#clouds.visible, { camera, x, y, width, height, clip: this.#clouds.clip });
  }

  #turnAround(event: MouseEvent): void {
    const hit = this.#pick(event.offsetX, event.offsetY);
    const { origin } = this.#clouds;
    if (hit && origin) this.#stage.control.setTarget(sceneVector(hit.position, origin));
  }

  #click(x: number, y: number): void {
    const { tool } = this.input;
    if (!isClickTool(tool)) return;
    const hit = this.#pick(x, y);
    if (tool === "pick") {
      this.picked.call(hit);
      return;
    }
    if (!hit) return;
    const first = this.#first;
    if (!first) {
      this.#first = hit.position;
      this.marks.kept.set("first", { kind: "line", points: [hit.position] });
      this.#stage.invalidate();
      return;
    }
    this.#first = null;
    this.marks.kept.delete("first");
    if (tool === "measure") this.#measure(first, hit.position);
    else this.#profile(first, hit.position);
    this.#stage.invalidate();
  }

  #measure(from: Point, to: Point): void {
    const distance_m = new Vector3(...to).sub(new Vector3(...from)).length();
    const horizontal_m = Math.hypot(to[0] - from[0], to[1] - from[1]);
    this.marks.kept.set("measure", { kind: "line", points: [from, to], label: `${distance_m.toFixed(2)} m` });
    this.measured.call({ from, to, distance_m, horizontal_m, vertical_m: to[2] - from[2] });
  }

  #profile(from: Point, to: Point): void {
    this.#band = [from, to];
    this.marks.kept.set("profile", { kind: "line", points: [from, to] });
    this.refreshProfile();
  }

  /** Makes the profile again, after its width, the colours or the points changed. */
  refreshProfile(): void {
    if (!this.#band) return;
    const [from, to] = this.#band;
    const { visible, colours, clip } = this.#clouds;
    const band = { from, to, width_m: this.profileWidth, clip, is_complete: this.#isComplete() };
    this.profiled.call(profileOf(visible, colours, band));
  }

  #drawn(tool: Selection["tool"], drawn: Drawn): void {
    const { camera, width, height } = this.#stage;
    camera.updateMatrixWorld();
    const clouds = this.#clouds.visible;
    if (clouds.length === 0) return;
    this.selected.call(selectionOf(tool, drawn, clouds, { camera, width, height }, this.#clouds.clip));
  }

  dispose(): void {
    this.input.dispose();
    this.marks.canvas.remove();
  }
}
