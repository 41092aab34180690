import type { TreeQsmResult } from "../contract/cloud-session/tree-qsm.ts";

/** Ids of trees that a warning names. */
const NAMED = 5;
const NUMBER = /\d+(?:\.\d+)?/g;

interface Said {
  readonly ids: number[];
  /** The words before, between and after the numbers. */
  readonly words: readonly string[];
  /** Smallest and largest of each number of the sentence, as it was said. */
  readonly ranges: [low: string, high: string][];
}

/**
 * What the models of trees warn of: one sentence for all trees that are told the same but for its numbers, with their
 * range, how many trees these are and the first of them.
 */
export function treeQsmWarnings(results: readonly Pick<TreeQsmResult, "tree_id" | "success" | "warnings">[]): string[] {
  const sentences = new Map<string, Said>();
  for (const { tree_id, warnings = [] } of results) for (const text of warnings) add(sentences, tree_id, text);
  const models = results.filter(({ success }) => success).length;
  return [...sentences.values()].map(({ ids, words, ranges }) => {
    const text = words.map((part, i) => `${part}${spanOf(ranges[i])}`).join("");
    return `${ids.length} of ${models} ${models === 1 ? "model" : "models"} (${treesOf(ids)}): ${text}${/[.!?]$/.test(text) ? "" : "."}`;
  });
}

function add(sentences: Map<string, Said>, tree_id: number, text: string): void {
  const words = text.split(NUMBER);
  const key = words.join("\0");
  const numbers = text.match(NUMBER) ?? [];
  const said = sentences.get(key);
  if (!said) {
    sentences.set(key, { ids: [tree_id], words, ranges: numbers.map((number) => [number, number]) });
    return;
  }
  if (said.ids.at(-1) !== tree_id) said.ids.push(tree_id);
  for (const [i, number] of numbers.entries()) widen(said.ranges[i], number);
}

function widen(range: [string, string] | undefined, number: string): void {
  if (!range) return;
  if (Number(number) < Number(range[0])) range[0] = number;
  if (Number(number) > Number(range[1])) range[1] = number;
}

const spanOf = ([low, high]: readonly [string, string] = ["", ""]) => (low === high ? low : `${low} to ${high}`);

function treesOf(ids: readonly number[]): string {
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
  return `${ids.length === 1 ? "tree" : "trees"} ${ids.slice(0, NAMED).join(", ")}${more}`;
}
