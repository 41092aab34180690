import { type PerspectiveCamera, Spherical, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

const TURN_RAD = Math.PI / 24;
const TILT_MIN_RAD = 0.01;
const ZOOM = 1.15;
/** Share of the distance that one key press moves the view. */
const PAN = 0.06;

/** A box around what can be seen, scene coordinates. */
export interface SceneBox {
  readonly min: Vector3;
  readonly max: Vector3;
}

/** Moves the camera by mouse, touch and keys. z stays up. */
export class CameraControl {
  readonly #camera: PerspectiveCamera;
  readonly #orbit: OrbitControls;
  readonly #changed: () => void;

  constructor(camera: PerspectiveCamera, canvas: HTMLCanvasElement, changed: () => void) {
    this.#camera = camera;
    this.#changed = changed;
    camera.up.set(0, 0, 1);
    this.#orbit = new OrbitControls(camera, canvas);
    this.#orbit.zoomToCursor = true;
    this.#orbit.zoomSpeed = 1.4;
    this.#orbit.addEventListener("change", changed);
  }

  get target(): Vector3 {
    return this.#orbit.target;
  }

  /** Whether the left button (one finger) turns the camera; the right one and the wheel always move it. */
  setTurning(isOn: boolean): void {
    this.#orbit.enableRotate = isOn;
    this.#orbit.touches.ONE = isOn ? 0 : null;
  }

  /** Turns around this place from now on. */
  setTarget(at: Vector3): void {
    this.#orbit.target.copy(at);
    this.#orbit.update();
    this.#changed();
  }

  /** Looks at a box from the direction of now, or from the south-west and above at first. */
  fit({ min, max }: SceneBox, isFirst: boolean): void {
    const centre = min.clone().add(max).multiplyScalar(0.5);
    const radius = Math.max(0.05, max.distanceTo(min) / 2);
    const direction = isFirst
      ? new Vector3(-0.55, -1, 0.5)
      : this.#camera.position.clone().sub(this.#orbit.target).normalize();
    const narrow = Math.min(1, this.#camera.aspect);
    const half = (this.#camera.fov * Math.PI) / 360;
    const distance = radius / Math.sin(Math.atan(Math.tan(half) * narrow));
    this.#orbit.target.copy(centre);
    this.#camera.position.copy(centre).addScaledVector(direction.normalize(), distance);
    this.#orbit.update();
    this.#changed();
  }

  /** Moves by a key; false for a key that moves nothing. */
  key({ key, shiftKey }: Pick<KeyboardEvent, "key" | "shiftKey">): boolean {
    const step = KEYS[key];
    if (!step) return false;
    if (step.zoom) this.#move((offset) => offset.multiplyScalar(step.zoom ?? 1));
    else if (shiftKey) this.#pan(step.x ?? 0, step.y ?? 0);
    else this.#move((offset) => turned(offset, -(step.x ?? 0) * TURN_RAD, (step.y ?? 0) * TURN_RAD));
    return true;
  }

  #move(change: (offset: Vector3) => Vector3): void {
    const { target } = this.#orbit;
    const offset = change(this.#camera.position.clone().sub(target));
    this.#camera.position.copy(target).add(offset);
    this.#orbit.update();
    this.#changed();
  }

  #pan(x: number, y: number): void {
    const { target } = this.#orbit;
    const length = PAN * this.#camera.position.distanceTo(target);
    const right = new Vector3().setFromMatrixColumn(this.#camera.matrix, 0);
    const up = new Vector3().setFromMatrixColumn(this.#camera.matrix, 1);
    const by = right.multiplyScalar(x * length).add(up.multiplyScalar(y * length));
    target.add(by);
    this.#camera.position.add(by);
    this.#orbit.update();
    this.#changed();
  }

  dispose(): void {
    this.#orbit.dispose();
  }
}

const KEYS: Readonly<Record<string, { readonly x?: number; readonly y?: number; readonly zoom?: number }>> = {
  ArrowLeft: { x: -1 },
  ArrowRight: { x: 1 },
  ArrowUp: { y: 1 },
  ArrowDown: { y: -1 },
  "+": { zoom: 1 / ZOOM },
  "=": { zoom: 1 / ZOOM },
  "-": { zoom: ZOOM },
};

/** An offset from the target, turned around z by `azimuth` and tilted up by `tilt`. */
function turned(offset: Vector3, azimuth: number, tilt: number): Vector3 {
  const yUp = new Vector3(offset.x, offset.z, -offset.y); // Spherical measures from y
  const at = new Spherical().setFromVector3(yUp);
  at.theta += azimuth;
  at.phi = Math.min(Math.PI - TILT_MIN_RAD, Math.max(TILT_MIN_RAD, at.phi - tilt));
  yUp.setFromSpherical(at);
  return new Vector3(yUp.x, -yUp.z, yUp.y);
}

/** Near and far plane around what can be seen: a ratio that 24 bits of depth can tell apart. */
export function setDepth(camera: PerspectiveCamera, { min, max }: SceneBox): void {
  const centre = min.clone().add(max).multiplyScalar(0.5);
  const radius = Math.max(0.05, max.distanceTo(min) / 2);
  const distance = camera.position.distanceTo(centre);
  camera.far = (distance + radius) * 1.05;
  camera.near = Math.max(camera.far * 2e-5, (distance - radius) * 0.95);
  camera.updateProjectionMatrix();
}
