import {
  Box3,
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  PerspectiveCamera,
  Scene,
  Vector3,
  WebGLRenderer,
} from "three";
import { CameraControl, type SceneBox, setDepth } from "./camera-control.ts";

const FIELD_OF_VIEW_DEG = 50;
/** Pixels of a screen are drawn one by one up to this many per CSS pixel. */
const MAX_PIXEL_RATIO = 2;
/** The picture counts as moving this long after the last move, ms; longer where a full picture takes longer. */
const MOVING_MS = 250;
const LONGEST_MOVING_MS = 1500;
/** While moving, a frame that takes longer than the first has too many points, one below the second has time left, ms. */
const SLOW_FRAME_MS = 45;
const FAST_FRAME_MS = 22;
const GOOD_FRAME_MS = 33;
/** So few points still show where the camera is. */
const FEWEST_POINTS = 50_000;

export interface StageHandlers {
  /** Prepares a picture: `isMoving`: the camera moves and speed matters. */
  readonly prepare: (isMoving: boolean) => void;
  /** After the picture is drawn. */
  readonly drawn: () => void;
}

/** Canvas, camera, lights and the loop that draws when something has changed. */
export class Stage {
  readonly holder: HTMLElement;
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  /** What is not clouds: meshes, QSMs, plants. */
  readonly objects = new Group();
  readonly camera = new PerspectiveCamera(FIELD_OF_VIEW_DEG, 1, 0.1, 1000);
  readonly control: CameraControl;
  /** Points to draw while moving, from the speed of the last frames. */
  movingPoints = Number.POSITIVE_INFINITY;
  /** Points of the last picture. */
  shownPoints = 0;
  frameMs = 0;
  #handlers: StageHandlers;
  #isDirty = false;
  #request = 0;
  #movedAt = -Infinity;
  #askedAt = 0;
  #movingMs = MOVING_MS;
  #settle: ReturnType<typeof setTimeout> | undefined;
  readonly #frames: number[] = [];
  readonly #resize: ResizeObserver;
  readonly #stop = new AbortController();

  /** Errors: Error if there is no WebGL 2. */
  constructor(holder: HTMLElement, label: string, handlers: StageHandlers) {
    this.holder = holder;
    this.#handlers = handlers;
    this.renderer = new WebGLRenderer({ antialias: false, powerPreference: "high-performance" });
    const canvas = this.canvas;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", label);
    holder.append(canvas);
    this.scene.add(new HemisphereLight(0xffffff, 0xa0a49c, 3), this.objects);
    const sun = new DirectionalLight(0xffffff, 2);
    sun.position.set(-0.6, -1, 1.4);
    this.scene.add(sun);
    this.control = new CameraControl(this.camera, canvas, () => this.moved());
    this.#resize = new ResizeObserver(() => this.#fitCanvas());
    this.#resize.observe(holder);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.#setBackground(), { signal: this.#stop.signal });
    this.#setBackground();
    this.#fitCanvas();
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }
  get width(): number {
    return Math.max(1, this.holder.clientWidth);
  }
  get height(): number {
    return Math.max(1, this.holder.clientHeight);
  }
  get pixelRatio(): number {
    return Math.min(MAX_PIXEL_RATIO, devicePixelRatio);
  }
  get framesPerSecond(): number {
    const now = performance.now();
    return this.#frames.filter((at) => now - at < 1000).length;
  }
  get isMoving(): boolean {
    return performance.now() - this.#movedAt < this.#movingMs;
  }

  /** Draws soon. */
  invalidate(): void {
    if (this.#isDirty) return;
    this.#isDirty = true;
    this.#askedAt = performance.now();
    this.#request = requestAnimationFrame(() => this.#draw());
  }

  moved(): void {
    this.#movedAt = performance.now();
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.invalidate(), this.#movingMs + 10);
    this.invalidate();
  }

  /** The box of the objects that are shown, scene coordinates; empty without any. */
  objectBox(): Box3 {
    const box = new Box3();
    for (const object of this.objects.children) if (object.visible) box.expandByObject(object);
    return box;
  }

  /** `seen`: what the depth must reach. */
  render(seen: SceneBox | null): void {
    if (seen) setDepth(this.camera, seen);
    this.camera.updateMatrixWorld();
    this.renderer.render(this.scene, this.camera);
  }

  #draw(): void {
    this.#isDirty = false;
    const now = performance.now();
    const { isMoving } = this;
    if (isMoving) this.#pace(now - this.#askedAt);
    this.#handlers.prepare(isMoving);
    this.#frames.push(now);
    while ((this.#frames[0] ?? now) < now - 2000) this.#frames.shift();
    this.#handlers.drawn();
    const took = performance.now() - now;
    this.frameMs = this.frameMs === 0 ? took : 0.8 * this.frameMs + 0.2 * took;
  }

  /**
   * Fewer points while frames are slow, more while they are fast. Drawing goes on after render() has returned; what
   * tells its time is how long the browser lets the next picture wait.
   */
  #pace(waited: number): void {
    if (waited > this.#movingMs) this.#movingMs = Math.min(LONGEST_MOVING_MS, waited); // behind a full picture
    if (waited > SLOW_FRAME_MS) {
      const factor = Math.min(0.9, Math.max(0.1, GOOD_FRAME_MS / waited));
      this.movingPoints = Math.max(FEWEST_POINTS, factor * Math.min(this.movingPoints, this.shownPoints));
    } else if (waited < FAST_FRAME_MS) this.movingPoints *= 1.1;
  }

  #fitCanvas(): void {
    const { width, height, renderer, camera } = this;
    renderer.setPixelRatio(this.pixelRatio);
    renderer.setSize(width, height, false);
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    this.invalidate();
  }

  #setBackground(): void {
    const colour = getComputedStyle(this.holder).backgroundColor;
    this.scene.background = new Color(colour);
    this.invalidate();
  }

  dispose(): void {
    cancelAnimationFrame(this.#request);
    clearTimeout(this.#settle);
    this.#stop.abort();
    this.#resize.disconnect();
    this.control.dispose();
    this.renderer.dispose();
    this.canvas.remove();
  }
}

/** The box around both; null if both are empty. */
export function joined(a: Box3, b: Box3): SceneBox | null {
  const box = a.clone().union(b);
  return box.isEmpty() ? null : { min: box.min.clone(), max: box.max.clone() };
}

export const sceneVector = (at: readonly [number, number, number], origin: readonly [number, number, number]) =>
  new Vector3(at[0] - origin[0], at[1] - origin[1], at[2] - origin[2]);
