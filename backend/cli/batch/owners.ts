/** A tree as one tile sees it. */
export interface SeenTree {
  /** Number in the tile. */
  readonly id: number;
  readonly points: number;
  /** Points in the tile's core. */
  readonly core_points: number;
  /** Mean x and y of its lowest metre, true world. */
  readonly anchor: readonly [number, number];
  /** Distance of the anchor from the nearest edge of the core, metres; negative outside. */
  readonly margin_m: number;
}

export interface TileTrees {
  readonly tile: string;
  readonly trees: readonly SeenTree[];
}

/** Trees of all tiles, each once. */
export interface Ownership {
  /** In the order of their numbers, from 1. */
  readonly trees: readonly { readonly tile: string; readonly id: number; readonly anchor: readonly [number, number] }[];
  /** By tile, the number of each of its trees that has points in its core; 0 = none. */
  readonly numbers: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Trees that no tile with their stem has found: a buffer may have cut them. */
  readonly truncated_count: number;
}

/** Anchors of one tree in two tiles lie closer than this, metres. */
const SAME_M = 0.5;
/** A tree without an owner needs this many points in a core: contract classification, section 4.1. */
export const LEAST_POINTS = 20;

interface Candidate extends SeenTree {
  readonly tile: string;
  number: number;
}

/**
 * Decides which tile owns each tree and numbers them by x, then y of their anchors: the tile whose core holds the anchor. Two
 * tiles that both claim one tree give it to the one where its anchor lies deeper in the core; a tree that each leaves to
 * the other goes to the one that holds most of its points. Two claims are two trees if each tile sees both of them.
 */
export function ownersOf(tiles: readonly TileTrees[]): Ownership {
  const all = tiles.flatMap(({ tile, trees }) => trees.map((tree): Candidate => ({ ...tree, tile, number: 0 })));
  const order = (a: Candidate, b: Candidate) => (a.tile < b.tile ? -1 : a.tile > b.tile ? 1 : a.id - b.id);
  const claims = all.filter(({ margin_m }) => margin_m >= 0).sort((a, b) => b.margin_m - a.margin_m || order(a, b));
  const kept = new Places();
  const seen = new Places();
  all.forEach((tree) => {
    seen.add(tree);
  });
  const isTwin = (a: Candidate, b: Candidate) =>
    seen.nearest(a, (tree) => tree.tile === b.tile) === b || seen.nearest(b, (tree) => tree.tile === a.tile) === a;
  const follows = new Map<Candidate, Candidate>();
  const place = (tree: Candidate) => {
    const owner = kept.nearest(tree, (other) => other.tile !== tree.tile && isTwin(tree, other));
    if (owner) follows.set(tree, owner);
    else kept.add(tree);
  };
  claims.forEach(place);
  const guests = all
    .filter(({ margin_m, core_points }) => margin_m < 0 && core_points > 0)
    .sort((a, b) => b.core_points - a.core_points || order(a, b));
  let truncated = 0;
  for (const tree of guests) {
    const owner = kept.nearest(tree, (other) => other.tile !== tree.tile);
    if (owner) follows.set(tree, owner);
    else if (tree.core_points >= LEAST_POINTS) {
      truncated += 1;
      kept.add(tree);
    }
  }
  const trees = kept.list.sort((a, b) => a.anchor[0] - b.anchor[0] || a.anchor[1] - b.anchor[1] || order(a, b));
  for (const [i, tree] of trees.entries()) tree.number = i + 1;
  const numbers = new Map(tiles.map(({ tile }) => [tile, new Map<number, number>()]));
  for (const tree of all) {
    if (tree.core_points === 0) continue;
    numbers.get(tree.tile)?.set(tree.id, (follows.get(tree) ?? tree).number);
  }
  return { trees, numbers, truncated_count: truncated };
}

/** Trees by the place of their anchors, in squares of SAME_M. */
class Places {
  readonly list: Candidate[] = [];
  readonly #cells = new Map<string, Candidate[]>();

  add(tree: Candidate): void {
    this.list.push(tree);
    const key = this.#key(tree.anchor, 0, 0);
    const cell = this.#cells.get(key);
    if (cell) cell.push(tree);
    else this.#cells.set(key, [tree]);
  }

  /** The nearest tree within SAME_M that `suits`. */
  nearest({ anchor }: Candidate, suits: (tree: Candidate) => boolean): Candidate | undefined {
    let best: Candidate | undefined;
    let least = SAME_M;
    for (let dx = -1; dx <= 1; dx += 1)
      for (let dy = -1; dy <= 1; dy += 1)
        for (const other of this.#cells.get(this.#key(anchor, dx, dy)) ?? []) {
          const distance = Math.hypot(other.anchor[0] - anchor[0], other.anchor[1] - anchor[1]);
          if (!(distance < least) || !suits(other)) continue;
          least = distance;
          best = other;
        }
    return best;
  }

  #key([x, y]: SeenTree["anchor"], dx: number, dy: number): string {
    return `${Math.floor(x / SAME_M) + dx} ${Math.floor(y / SAME_M) + dy}`;
  }
}
