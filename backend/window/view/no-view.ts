import type { CloudInput, CloudView, Colouring, Tool, ViewObject, ViewStats, WorldBox } from "./cloud-view.ts";
import { Handlers } from "./handlers.ts";

const STATS: ViewStats = { frames_per_second: 0, frame_ms: 0, visible_points: 0, loaded_points: 0, pending_nodes: 0 };

/** In the place of the view where the browser cannot draw: the panels around it work, and `holder` says why it is empty. */
export function createNoView(holder: HTMLElement, reason: string): CloudView {
  const message = holder.ownerDocument.createElement("p");
  message.className = "view-message";
  message.textContent = reason;
  holder.append(message);
  return new NoView(message);
}

class NoView implements CloudView {
  readonly #message: HTMLElement;
  readonly #clouds = new Map<string, CloudInput>();
  readonly #nothing = new Handlers<never>();

  constructor(message: HTMLElement) {
    this.#message = message;
  }
  async addCloud(cloud: CloudInput): Promise<void> {
    this.#clouds.set(cloud.session_id, cloud);
  }
  updateCloud = (cloud: CloudInput) => this.addCloud(cloud);
  removeCloud(sessionId: string): void {
    this.#clouds.delete(sessionId);
  }
  columns = () => [];
  colouring = (): Colouring => ({ kind: "flat" });
  legend = () => null;
  bounds = () => null;
  clipBox = () => null;
  tool = (): Tool => "navigate";
  stats = () => STATS;
  setVisible = ignore;
  setColouring = ignore;
  setPointSize = ignore;
  setClipBox: (box: WorldBox | null) => void = ignore;
  selectClipBox = ignore;
  setTool = ignore;
  setBrushSize = ignore;
  setProfileWidth = ignore;
  clearMarks = ignore;
  highlightTree = ignore;
  fit = ignore;
  onSelection: CloudView["onSelection"] = (handler) => this.#nothing.add(handler);
  onLegend: CloudView["onLegend"] = (handler) => this.#nothing.add(handler);
  onTool: CloudView["onTool"] = (handler) => this.#nothing.add(handler);
  onMeasure: CloudView["onMeasure"] = (handler) => this.#nothing.add(handler);
  onProfile: CloudView["onProfile"] = (handler) => this.#nothing.add(handler);
  onPick: CloudView["onPick"] = (handler) => this.#nothing.add(handler);
  onStats: CloudView["onStats"] = (handler) => this.#nothing.add(handler);
  onProblem: CloudView["onProblem"] = (handler) => this.#nothing.add(handler);
  onEvicted: CloudView["onEvicted"] = (handler) => this.#nothing.add(handler);
  addMesh: CloudView["addMesh"] = ({ name }) => unseen(name);
  addSurface: CloudView["addSurface"] = ({ name }) => unseen(name);
  addQsm: CloudView["addQsm"] = ({ name }) => unseen(name);
  addPlant: CloudView["addPlant"] = ({ name }) => unseen(name);
  dispose(): void {
    this.#message.remove();
  }
}

/** What cannot be seen cannot be changed either. */
const ignore = (): void => undefined;

const unseen = (name: string): ViewObject => ({ name, visible: true, remove: ignore });
