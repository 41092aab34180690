import { printable } from "../progress.ts";
import type { Fact } from "./summary.ts";

/** Facts and warnings for the terminal. */
export function terminalTable(facts: readonly Fact[], warnings: readonly string[]): string {
  const width = Math.max(...facts.map(([label]) => label.length));
  // Plain spaces and hyphens instead of narrow spaces and minus signs: text in a terminal is copied.
  const plain = (text: string) => printable(text).replaceAll("\u202f", " ").replaceAll("\u2212", "-");
  const lines = facts.map(([label, value]) => `${label.padEnd(width)}  ${plain(value)}`);
  for (const warning of warnings) lines.push(`Warning: ${printable(warning)}`);
  return `${lines.join("\n")}\n`;
}
