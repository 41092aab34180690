// Writes cpp/ops/fit/leaf_constants.inc from the published table of PROSPECT-D and -PRO (dataSpec_PRO_v2.txt of
// github.com/jbferet/prospect): node scripts/fit-leaf-constants.mjs <table>
//
// Each spectrum becomes a line through selected wavelengths that stays within a tolerance of every value of the table.
// The tolerance is the change of the coefficient that changes reflectance or transmittance by SHARE in the worst leaf:
// where a full content lets no light pass, a larger change is seen in the leaf that has just so much of it.
import { readFileSync, writeFileSync } from "node:fs";

const SHARE = 8e-6; // of each spectrum; the sum over all of a leaf is far below 1e-4 (prospect_constants_test.cpp)
const STEEPEST = 4; // of reflectance and transmittance by the absorption of a leaf
const INDEX_TOLERANCE = 3e-5;
const TARGET = "cpp/ops/fit/leaf_constants.inc";
/** Columns of the table by Constituent, and the largest contents. */
const CONSTITUENTS = [
  ["sac_chl", 90],
  ["sac_car", 30],
  ["sac_brown", 1],
  ["sac_ewt", 0.04],
  ["sac_lma", 0.02],
  ["sac_ant", 5],
  ["sac_prot", 0.006],
  ["sac_cbc", 0.054],
];

function readTable(path) {
  const [head, ...lines] = readFileSync(path, "utf8").trim().split(/\r?\n/);
  const names = head.split(/\s+/);
  const rows = lines.map((line) => line.split(/\s+/).map(Number));
  if (rows.length !== 2101 || rows.some((row, i) => row[0] !== 400 + i || row.some(Number.isNaN))) {
    throw new Error(`${path} is not the table from 400 to 2500 nm`);
  }
  return (name) => {
    const column = names.indexOf(name);
    if (column < 0) throw new Error(`${path} has no column ${name}`);
    return rows.map((row) => row[column]);
  };
}

/** Tolerance of a coefficient: SHARE / (STEEPEST * max over contents c of c exp(-coefficient * c)). */
function tolerance(coefficient, largest) {
  const seen = coefficient * largest < 1 ? largest * Math.exp(-coefficient * largest) : 1 / (Math.E * coefficient);
  return SHARE / (STEEPEST * seen);
}

/** The farthest next node from which the line stays within the tolerances, with its value in units. */
function nextNode(values, tolerances, units, from, start) {
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let best;
  for (let at = from + 1; at < values.length; at++) {
    const run = at - from;
    low = Math.max(low, (Math.max(0, values[at] - tolerances[at]) * units - start) / run);
    high = Math.min(high, ((values[at] + tolerances[at]) * units - start) / run);
    if (low > high) break;
    const [least, most] = [Math.ceil(start + low * run), Math.floor(start + high * run)];
    if (least <= most) best = { at, value: Math.min(most, Math.max(least, Math.round(values[at] * units))) };
  }
  if (!best) throw new Error(`no line from ${400 + from} nm: the unit is too large`);
  return best;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
function packed(number) {
  let bits = 2 * Math.abs(number) + (number < 0 ? 1 : 0);
  let text = "";
  do {
    const group = bits % 32;
    bits = Math.floor(bits / 32);
    text += DIGITS[group + (bits > 0 ? 32 : 0)];
  } while (bits > 0);
  return text;
}

function pack(values, tolerances) {
  const units = 10 ** Math.ceil(Math.log10(2 / Math.min(...tolerances)));
  let at = 0;
  let value = Math.round(values[0] * units);
  let text = packed(value);
  let nodes = 1;
  while (at < values.length - 1) {
    const node = nextNode(values, tolerances, units, at, value);
    text += packed(node.at - at) + packed(node.value - value);
    [at, value] = [node.at, node.value];
    nodes++;
  }
  return { units, text, nodes };
}

const quoted = (text, indent) =>
  text
    .match(/.{1,100}/g)
    .map((part) => `${indent}"${part}"`)
    .join("\n");

const path = process.argv[2];
if (!path) throw new Error("which table?");
const column = readTable(path);
const index = pack(column("nrefrac"), new Array(2101).fill(INDEX_TOLERANCE));
const absorption = CONSTITUENTS.map(([name, largest]) => {
  const values = column(name);
  return {
    name,
    ...pack(
      values,
      values.map((value) => tolerance(value, largest)),
    ),
  };
});
for (const { name, nodes, text } of [{ name: "nrefrac", ...index }, ...absorption]) {
  console.log(`${name}: ${nodes} wavelengths, ${text.length} characters`);
}
const spectrum = ({ units, text }, indent) => `{${units}.0,\n${quoted(text, indent)}}`;
writeFileSync(
  TARGET,
  `// Written by scripts/fit-leaf-constants.mjs from the constants of PROSPECT-D and -PRO, Copyright (c) 2020-present
// Jean-Baptiste Feret, MIT licence (THIRD_PARTY.md). Included by leaf_constants.cpp.
constexpr PackedSpectrum kRefractiveIndex${spectrum(index, "    ")};

constexpr std::array<PackedSpectrum, kConstituents> kAbsorption{{
${absorption.map((one) => `    // ${one.name}\n    ${spectrum(one, "     ")}`).join(",\n")}}};
`,
);
