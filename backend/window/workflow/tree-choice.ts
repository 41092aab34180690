import type { CloudView } from "../view/cloud-view.ts";
import type { Cloud, Clouds } from "./clouds.ts";
import type { Scene, TreeList, TreeOrigin } from "./scene.ts";
import { Signal } from "./signal.ts";

export interface ShownTrees {
  readonly list: TreeList | null;
  /** The cloud has changed since the list was made: its numbers may be those of other trees, and none can be chosen. */
  readonly is_stale: boolean;
  /** Number of the chosen tree. */
  readonly chosen: number | null;
  /** It was picked in the view. */
  readonly is_picked: boolean;
}

/** True if the points or the tree numbers of the cloud are others than those of the list; false where that is unknown. */
export function isStale({ session_id, tree_version }: TreeOrigin, clouds: readonly Cloud[]): boolean {
  const summary = clouds.find((cloud) => cloud.session_id === session_id)?.summary;
  return tree_version !== undefined && summary?.is_open === true && summary.tree_version !== tree_version;
}

/** The tree list, whether it still fits its cloud, and the tree that is chosen in it and shown in the view. */
export class TreeChoice {
  readonly shown = new Signal<ShownTrees>({ list: null, is_stale: false, chosen: null, is_picked: false });
  readonly #view: Pick<CloudView, "highlightTree">;

  constructor(
    view: Pick<CloudView, "highlightTree" | "onPick">,
    scene: Pick<Scene, "trees">,
    clouds: Pick<Clouds, "list">,
  ) {
    this.#view = view;
    scene.trees.follow((list) => this.#show(list, list !== null && isStale(list, clouds.list.value)));
    clouds.list.follow((all) => {
      const { list, is_stale } = this.shown.value;
      const isNow = list !== null && isStale(list, all);
      if (isNow !== is_stale) this.#show(list, isNow);
    });
    view.onPick((point) => {
      const { list } = this.shown.value;
      const id = point?.values.tree_instance;
      if (
        id !== undefined &&
        point?.session_id === list?.session_id &&
        list?.trees.some(({ tree_id }) => tree_id === id)
      )
        this.choose(id, true);
    });
  }

  /** Shows one tree; null shows all. Nothing while the list is stale. */
  choose(chosen: number | null, is_picked = false): void {
    if (this.shown.value.is_stale) return;
    this.#view.highlightTree(chosen);
    this.shown.set({ ...this.shown.value, chosen, is_picked });
  }

  #show(list: TreeList | null, is_stale: boolean): void {
    if (this.shown.value.chosen !== null) this.#view.highlightTree(null);
    this.shown.set({ list, is_stale, chosen: null, is_picked: false });
  }
}
