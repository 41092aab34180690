import type { Selection, Tool } from "../cloud-view.ts";
import type { MarkLayer } from "./marks.ts";
import { type Drawn, extendStroke, rectangle } from "./regions.ts";

/** What the tools do with what the user draws. */
export interface ToolActions {
  /** A click without a drag, or Enter at the centre, CSS pixels of the canvas. */
  click(x: number, y: number): void;
  drawn(tool: Selection["tool"], drawn: Drawn): void;
  /** The marks changed. */
  redraw(): void;
  /** Escape: back to navigating. */
  leave(): void;
}

/** A pointer that moves less than this clicks, pixels. */
const CLICK_PX = 4;
const SMALLEST_DRAG_PX = 3;

const DRAG_TOOLS: ReadonlySet<Tool> = new Set(["box", "lasso", "brush"]);
const CLICK_TOOLS: ReadonlySet<Tool> = new Set(["measure", "profile", "pick"]);
export const isDragTool = (tool: Tool): tool is Selection["tool"] => DRAG_TOOLS.has(tool);
export const isClickTool = (tool: Tool): boolean => CLICK_TOOLS.has(tool);

/** Turns pointer and key events on the canvas into clicks and drawn shapes. */
export class ToolInput {
  tool: Tool = "navigate";
  brushHalf = 16;
  readonly #canvas: HTMLCanvasElement;
  readonly #marks: MarkLayer;
  readonly #actions: ToolActions;
  readonly #stop = new AbortController();
  #path: [number, number][] = [];
  #down: { readonly id: number; readonly x: number; readonly y: number } | null = null;

  constructor(canvas: HTMLCanvasElement, marks: MarkLayer, actions: ToolActions) {
    this.#canvas = canvas;
    this.#marks = marks;
    this.#actions = actions;
    const { signal } = this.#stop;
    canvas.addEventListener("pointerdown", (event) => this.#start(event), { signal });
    canvas.addEventListener("pointermove", (event) => this.#move(event), { signal });
    canvas.addEventListener("pointerup", (event) => this.#end(event), { signal });
    canvas.addEventListener("pointercancel", () => this.cancel(), { signal });
    canvas.addEventListener("pointerleave", () => this.#hover(null), { signal });
  }

  /** Forgets what is being drawn. */
  cancel(): void {
    this.#down = null;
    this.#path = [];
    this.#marks.draft = null;
    this.#actions.redraw();
  }

  /** Whether the key was for the tool. */
  key(key: string): boolean {
    if (key === "Escape") {
      const wasDrawing = this.#down !== null;
      this.cancel();
      if (!wasDrawing) this.#actions.leave();
      return true;
    }
    if (key !== "Enter" || !isClickTool(this.tool)) return false;
    this.#actions.click(this.#canvas.clientWidth / 2, this.#canvas.clientHeight / 2);
    return true;
  }

  #place(event: PointerEvent): [number, number] {
    const box = this.#canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #start(event: PointerEvent): void {
    if (event.button !== 0 || !event.isPrimary) return;
    const [x, y] = this.#place(event);
    this.#down = { id: event.pointerId, x, y };
    if (!isDragTool(this.tool)) return;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#path = [[x, y]];
    this.#show([x, y]);
  }

  #move(event: PointerEvent): void {
    const at = this.#place(event);
    if (!isDragTool(this.tool)) return;
    if (this.#down?.id !== event.pointerId) {
      this.#hover(at);
      return;
    }
    if (this.tool === "brush") extendStroke(this.#path, at, this.brushHalf);
    else this.#path.push(at);
    this.#show(at);
  }

  /** The brush shows where it would paint. */
  #hover(at: [number, number] | null): void {
    if (this.#down || this.tool !== "brush") return;
    this.#marks.draft = at && { kind: "squares", centers: [at], half_size: this.brushHalf };
    this.#actions.redraw();
  }

  #show(at: [number, number]): void {
    const start = this.#path[0] ?? at;
    if (this.tool === "brush") this.#marks.draft = { kind: "squares", centers: this.#path, half_size: this.brushHalf };
    else
      this.#marks.draft = {
        kind: "shape",
        pixels: this.tool === "box" ? rectangle(start, at) : this.#path,
        isClosed: true,
      };
    this.#actions.redraw();
  }

  #end(event: PointerEvent): void {
    const down = this.#down;
    if (down?.id !== event.pointerId) return;
    const at = this.#place(event);
    const path = this.#path;
    this.cancel();
    const moved = Math.hypot(at[0] - down.x, at[1] - down.y);
    if (!isDragTool(this.tool)) {
      if (moved <= CLICK_PX) this.#actions.click(...at);
      return;
    }
    const drawn = this.#drawn(path, at);
    if (drawn) this.#actions.drawn(this.tool, drawn);
  }

  #drawn(path: [number, number][], at: [number, number]): Drawn | null {
    const start = path[0];
    if (!start) return null;
    if (this.tool === "brush") return { kind: "squares", centers: path, half_size: this.brushHalf };
    if (this.tool === "lasso") return path.length < 3 ? null : { kind: "polygon", points: path };
    const isSmall = Math.abs(at[0] - start[0]) < SMALLEST_DRAG_PX || Math.abs(at[1] - start[1]) < SMALLEST_DRAG_PX;
    return isSmall ? null : { kind: "polygon", points: rectangle(start, at) };
  }

  dispose(): void {
    this.#stop.abort();
  }
}
