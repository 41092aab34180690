import type { Group, Object3D } from "three";
import type { ViewObject } from "../cloud-view.ts";

/** A shown object with what frees its memory. */
export interface Placed extends ViewObject {
  readonly group: Group;
}

interface Disposable {
  dispose(): void;
}

/** Wraps a group as an object of the view. `changed` is called when the picture must be drawn again. */
export function placed(name: string, group: Group, changed: () => void): Placed {
  let isRemoved = false;
  const object: Placed = {
    name,
    group,
    get visible() {
      return group.visible;
    },
    set visible(isVisible: boolean) {
      group.visible = isVisible;
      changed();
    },
    remove() {
      if (isRemoved) return;
      isRemoved = true;
      group.removeFromParent();
      group.traverse(free);
      changed();
    },
  };
  return object;
}

function free(object: Object3D): void {
  const { geometry, material } = object as { geometry?: Disposable; material?: Disposable };
  geometry?.dispose();
  material?.dispose();
  if ("isInstancedMesh" in object) (object as unknown as Disposable).dispose();
}
