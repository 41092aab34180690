/*
 * Every text of the window, in English. One object per part of the page; texts with values are functions.
 */

export const strings = {
  appTitle: "Point clouds",
  skipToView: "Skip to the view",
  regions: {
    left: "Clouds and operations",
    centre: "View",
    right: "Details",
    notices: "Messages",
    viewToolbar: "Tools of the view",
    sessionToolbar: "Editing",
  },
  /** The three-dimensional view: the parts of view/. */
  view: {
    canvasLabel:
      "Three-dimensional view. Arrow keys turn it, with Shift they move it, plus and minus zoom, Home shows everything.",
    noWebgl: "This browser cannot draw in three dimensions: WebGL 2 is not available.",
    height: "Height",
    intensity: "Intensity",
    classValue: (value: number) => `Class ${value}`,
    classNames: {
      classification: {
        0: "Never classified",
        1: "Unclassified",
        2: "Ground",
        3: "Low vegetation",
        4: "Medium vegetation",
        5: "High vegetation",
        6: "Building",
        7: "Low noise",
        9: "Water",
        18: "High noise",
      },
    } as Readonly<Record<string, Readonly<Record<number, string>>>>,
  },
  /** Everything around the view: the parts of workflow/. */
  workflow: {},
};

export type Strings = typeof strings;
