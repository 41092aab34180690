import type { ViewStats } from "./view/cloud-view.ts";

/*
 * Every text of the window, in English. One object per part of the page; texts with values are functions.
 */

const LAS_CLASSES = {
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
};

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
    toolbar: "Tools of the view",
    tools: "Tools",
    toolNames: {
      navigate: { name: "Navigate", hint: "Drag to turn, right button to move, wheel to zoom" },
      measure: { name: "Measure", hint: "Click two points; by keyboard, Enter takes the point at the cross" },
      profile: { name: "Profile", hint: "Click two points for a section of heights between them" },
      box: { name: "Box", hint: "Drag a rectangle to select points" },
      lasso: { name: "Lasso", hint: "Draw around points to select them" },
      brush: { name: "Brush", hint: "Paint over points to select them" },
      pick: { name: "Pick", hint: "Click a point to read its values, or a tree to select it" },
    },
    fit: "Show all",
    fitHint: "Move the camera so that everything is seen (Home)",
    clearMarks: "Clear marks",
    clearMarksHint: "Remove measurements and profiles from the view",
    colouring: "Colour",
    colouringNames: {
      height: "Height",
      rgb: "True colour",
      intensity: "Intensity",
      class: "Class",
      column: "Column",
      flat: "One colour",
    },
    column: "Column",
    rangeMin: "from",
    rangeMax: "to",
    sizes: "Sizes",
    pointSize: "Point size",
    brushSize: "Brush size",
    profileWidth: "Band width (m)",
    clipBox: "Clip box",
    clipFrom: "From",
    clipTo: "To",
    selectClip: "Select what is inside",
    selectClipHint: "The points in the clip box become the selection",
    legend: "Legend",
    moreClasses: (count: number) => `and ${count} more values`,
    measurement: "Measurement",
    distance: "Distance",
    horizontal: "Horizontal",
    vertical: "Height difference",
    pickedPoint: "Point",
    close: "Close",
    profile: "Height profile",
    profileTitle: (length: number, width: number, count: number, isComplete: boolean) =>
      `Height profile: ${length.toFixed(2)} m long, ${width} m wide, ${count.toLocaleString("en")} points${isComplete ? "" : " so far"}`,
    profileDescription: (length: number, low: number, high: number) =>
      `Heights from ${low.toFixed(2)} to ${high.toFixed(2)} m along ${length.toFixed(2)} m`,
    stats: ({ visible_points, pending_nodes, frames_per_second }: ViewStats) =>
      [
        `${visible_points.toLocaleString("en")} points`,
        ...(pending_nodes > 0 ? [`${pending_nodes} parts loading`] : []),
        ...(frames_per_second > 1 ? [`${frames_per_second} frames/s`] : []),
      ].join(" · "),
    classValue: (column: string, value: number) => (column === "tree_instance" ? `Tree ${value}` : `Class ${value}`),
    classNames: {
      classification: LAS_CLASSES,
      las_classification: LAS_CLASSES,
      ground_class: { 0: "Not classified", 1: "Ground", 2: "Plants" },
      noise_class: { 0: "Not classified", 1: "Clean", 2: "Noise" },
      wood_class: { 0: "Not classified", 1: "Wood", 2: "Leaves" },
      tree_instance: { 0: "No tree" },
    } as Readonly<Record<string, Readonly<Record<number, string>>>>,
  },
  /** Everything around the view: the parts of workflow/. */
  workflow: {},
};

export type Strings = typeof strings;
/** Texts of the view and its panels. */
export type ViewTexts = Strings["view"];
