// Species of the generated forests: published taper of the stem and width of the crown.

/** Exponents and factors of Kozak (2004), model 02: a0, a1, a2, b1 to b6. */
type Taper = readonly [number, number, number, number, number, number, number, number, number];

export interface Species {
  readonly name: string;
  readonly is_conifer: boolean;
  /**
   * Of the diameter over bark. Source: conifers Li, Weiskittel & Kershaw, Can. J. For. Res. 42, 2012; broadleaves
   * Weiskittel & Li, Cooperative Forestry Research Unit, University of Maine, 2012.
   */
  readonly taper: Taper;
  /**
   * a1, a2, b1, b2: an open-grown crown is a1 D^a2 metres wide, one in a stand 1 / (b1 D^b2) of that, D in centimetres.
   * Source: Russell & Weiskittel, North. J. Appl. For. 28(2), 2011. Norway spruce has the figures of white spruce.
   */
  readonly crown_width: readonly [number, number, number, number];
  /** Standard deviation of bark relief over the radius of the stem, and the most of it, metres. Ours. */
  readonly bark_share: number;
  readonly bark_most_m: number;
}

export const SPECIES = {
  norway_spruce: {
    name: "norway_spruce",
    is_conifer: true,
    taper: [1.0513, 0.9487, 0.0374, 0.611, -0.3001, 0.3731, 1.1255, 0.0318, -0.0297],
    crown_width: [1.5, 0.496, 2.09, -0.069],
    bark_share: 0.012,
    bark_most_m: 0.004,
  },
  balsam_fir: {
    name: "balsam_fir",
    is_conifer: true,
    taper: [0.7909, 0.9745, 0.1198, 0.2688, -0.55134, 0.5612, 0.9007, 0.1257, -0.6708],
    crown_width: [1.37, 0.572, 1.49, 0.105],
    bark_share: 0.008,
    bark_most_m: 0.003,
  },
  white_pine: {
    name: "white_pine",
    is_conifer: true,
    taper: [1.0202, 0.985, 0.0149, 0.3697, -0.7512, 0.3536, 3.8496, 0.1074, -0.5131],
    crown_width: [1.24, 0.585, 1, 0.147],
    bark_share: 0.03,
    bark_most_m: 0.01,
  },
  sugar_maple: {
    name: "sugar_maple",
    is_conifer: false,
    taper: [
      1.0517056747, 0.96129896, 0.0386037512, 0.8556437779, -0.249723079, 0.4149367053, 1.2548340569, 0.0412998707,
      -0.113500099,
    ],
    crown_width: [3.31, 0.356, 1, 0.161],
    bark_share: 0.02,
    bark_most_m: 0.006,
  },
  red_oak: {
    name: "red_oak",
    is_conifer: false,
    taper: [
      1.1751352376, 1.02249704, -0.069888591, 0.4505675893, -0.902884964, 0.5812519636, 3.6267479819, 0.1656137742,
      -1.114281314,
    ],
    crown_width: [4.08, 0.31, 4.1, -0.272],
    bark_share: 0.035,
    bark_most_m: 0.01,
  },
  american_beech: {
    name: "american_beech",
    is_conifer: false,
    taper: [
      1.0693567631, 0.9975021951, -0.01282775, 0.3921013594, -1.054622304, 0.7758393514, 4.1034897617, 0.1185960455,
      -1.080697381,
    ],
    // biome-ignore lint/suspicious/noApproximativeNumericConstant: a measured exponent
    crown_width: [2.93, 0.434, 1, 0.194],
    bark_share: 0.004,
    bark_most_m: 0.001,
  },
} as const satisfies Readonly<Record<string, Species>>;
