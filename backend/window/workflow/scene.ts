import type { z } from "zod";
import type { StandRecord, TreeRow } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import type { PlantFrameMeta } from "../../../shared/contract/plant-frame.ts";
import type { QsmCylinder } from "../../../shared/contract/qsm-records.ts";
import type { ViewObject } from "../view/cloud-view.ts";
import { Signal } from "./signal.ts";

/** Which trees a list or table was measured from. */
export interface TreeOrigin {
  readonly session_id: string;
  /** Of the session when they were measured; absent in lists of earlier versions. */
  readonly tree_version?: string;
}

/** Measured trees of a session. */
export interface TreeList extends TreeOrigin {
  readonly trees: readonly TreeRow[];
  readonly stand: StandRecord | null;
}

/** What an object was made of, where a project keeps it or a scan needs it. */
export type ObjectSource =
  | { readonly kind: "qsm"; readonly name: string; readonly cylinders: readonly QsmCylinder[] }
  | {
      readonly kind: "plant";
      readonly name: string;
      readonly meta: Pick<
        z.infer<typeof PlantFrameMeta>,
        "origin" | "prototype_first_triangle" | "materials" | "textures"
      >;
      readonly buffers: Readonly<Record<string, Float32Array | Uint32Array | undefined>>;
    }
  | { readonly kind: "surface"; readonly name: string }
  | { readonly kind: "voxels"; readonly name: string };

export interface SceneObject {
  readonly id: number;
  readonly source: ObjectSource;
  readonly shown: ViewObject;
}

/** What is shown besides the clouds, and what was measured. */
export class Scene {
  readonly objects = new Signal<readonly SceneObject[]>([]);
  readonly trees = new Signal<TreeList | null>(null);
  #next = 1;

  add(source: ObjectSource, shown: ViewObject): void {
    this.objects.set([...this.objects.value, { id: this.#next++, source, shown }]);
  }
  remove(id: number): void {
    for (const object of this.objects.value) if (object.id === id) object.shown.remove();
    this.objects.set(this.objects.value.filter((object) => object.id !== id));
  }
  setVisible(id: number, visible: boolean): void {
    for (const object of this.objects.value) if (object.id === id) object.shown.visible = visible;
    this.objects.set([...this.objects.value]);
  }
}
