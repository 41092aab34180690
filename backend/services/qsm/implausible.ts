import type { QsmMetrics } from "../../../shared/contract/qsm-records.ts";
import { TALLEST_TREE_M, unitDoubt } from "../run/unstated-units.ts";

/**
 * A stem of diameter d (m) that is higher than 0.79 (E / (rho g))^(1/3) d^(2/3) buckles under its own weight (McMahon 1973,
 * Science 179, 1201); with E = 10 GPa and rho = 600 kg/m3 for wood that is 94 d^(2/3) m. Measured trees reach 0.86 of it
 * (0.151 m, 22.8 m, itsme_tree1); stiffer wood or neighbours that hold it up may take a tree somewhat past 1.
 */
const STANDING = 1.2 * 94;
/** Saplings and herbs may be slender. */
const LEAST_HEIGHT_M = 3;
/**
 * Points per m2 of the crown's circle, leaves included. Scans from the ground have more than 300, from the air a median of 20 to 320. Of
 * wood alone there may be fewer: where its radii could be measured, volumes were within 7 % with 20 to 100.
 */
const FEWEST_PER_M2 = 100;

/** The thickest trunks measure 11 m (baobabs, cypresses). */
const THICKEST_TRUNK_MM = 12_000;

type Measured = Pick<QsmMetrics, "tree_height_m" | "trunk_diameter_mm" | "canopy_width_m">;

/**
 * What a person must know about a model that is no tree's: from the air, too few returns reach stem and branches, and thin
 * chains through the crown are all that can be modelled. `points`: of the tree, before it was thinned, or of its wood.
 *
 * wood_measured   they are of wood alone, and most of its radii were measured
 * unit_is_stated  something says that their coordinates are metres
 */
export function implausibleWarnings(
  points: number,
  metrics: Measured,
  { wood_measured = false, unit_is_stated = true } = {},
): string[] {
  const { tree_height_m: height_m, trunk_diameter_mm, canopy_width_m } = metrics;
  if (height_m > TALLEST_TREE_M)
    return [
      `a plant ${height_m.toFixed(0)} m high is none: no tree on Earth reaches ${TALLEST_TREE_M} m. There are stray points, or the coordinates are not metres. Import with source_units to convert them.`,
    ];
  const air = "too few returns reach stem and branches, as from the air: radii and volumes are not those of a tree";
  const why = `${air}${unit_is_stated ? "" : `.${unitDoubt(false)}`}`;
  if (height_m > LEAST_HEIGHT_M && height_m > STANDING * (trunk_diameter_mm / 1000) ** (2 / 3))
    return [`a trunk ${trunk_diameter_mm.toFixed(0)} mm thick cannot stand ${height_m.toFixed(1)} m high; ${why}`];
  if (wood_measured) return [];
  const perM2 = points / ((Math.PI / 4) * canopy_width_m ** 2);
  if (perM2 < FEWEST_PER_M2) return [`only ${perM2.toFixed(0)} points per m2 of the crown; ${why}`];
  return [];
}

/** What a table of cylinders says of its units, which it does not state: metres, radii too. */
export function importedDoubts({ tree_height_m, trunk_diameter_mm }: Measured): string[] {
  const metres = (value: number) => `${Number(value.toPrecision(3))} m`;
  const [height, trunk] = [metres(tree_height_m), metres(trunk_diameter_mm / 1000)];
  const way = "The columns of the table are read as metres, radii too: convert it.";
  if (tree_height_m > TALLEST_TREE_M)
    return [`The model is ${height} high, and no tree reaches ${TALLEST_TREE_M} m. ${way}`];
  if (trunk_diameter_mm > THICKEST_TRUNK_MM || trunk_diameter_mm / 1000 > tree_height_m)
    return [`The trunk is ${trunk} thick and the model ${height} high. ${way}`];
  if (tree_height_m > LEAST_HEIGHT_M && tree_height_m > STANDING * (trunk_diameter_mm / 1000) ** (2 / 3))
    return [`A trunk ${trunk} thick cannot stand ${height} high. ${way}`];
  return [];
}

/** Twigs of this year are 0.5 to 10 mm thick in radius. */
const [THINNEST_TWIG_MM, THICKEST_TWIG_MM] = [0.1, 20];

/** Warns of a radius that no twig has, as metres or a diameter of a branch that is sent as millimetres. */
export function twigWarnings(twig_radius_mm: number): string[] {
  if (twig_radius_mm >= THINNEST_TWIG_MM && twig_radius_mm <= THICKEST_TWIG_MM) return [];
  return [
    `twig_radius_mm ${twig_radius_mm}: twigs of this year have radii of 0.5 to 10 mm, and no tip becomes thinner than that of the request. The unit is millimetres.`,
  ];
}
