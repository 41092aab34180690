// Figures of a two-class labelling.

/** Points by what they are and what they were labelled. */
export interface Confusion {
  readonly groundGround: number;
  readonly groundPlant: number;
  readonly plantGround: number;
  readonly plantPlant: number;
}
export interface Scores {
  readonly kappa: number;
  readonly typeI: number;
  readonly typeII: number;
  readonly total: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** Counts by truth and answer; truth 1 ground, 2 not, 0 unknown (left out). */
export function confusion(truth: Uint8Array, labels: Uint8Array): Confusion {
  const counts = { groundGround: 0, groundPlant: 0, plantGround: 0, plantPlant: 0 };
  for (let i = 0; i < truth.length; i += 1) {
    if (truth[i] === 0) continue;
    const key = truth[i] === 1 ? "ground" : "plant";
    counts[`${key}${labels[i] === 1 ? "Ground" : "Plant"}` as const] += 1;
  }
  return counts;
}

/** Type I: ground lost; type II: objects taken for ground (Sithole & Vosselman 2004); kappa after Cohen 1960. */
export function scores({ groundGround: a, groundPlant: b, plantGround: c, plantPlant: d }: Confusion): Scores {
  const n = a + b + c + d;
  const agree = (a + d) / n;
  const chance = ((a + b) * (a + c) + (c + d) * (b + d)) / (n * n);
  const precision = a / (a + c);
  const recall = a / (a + b);
  return {
    kappa: chance === 1 ? 1 : (agree - chance) / (1 - chance),
    typeI: b / (a + b),
    typeII: c + d === 0 ? 0 : c / (c + d),
    total: (b + c) / n,
    precision,
    recall,
    f1: (2 * precision * recall) / (precision + recall),
  };
}
