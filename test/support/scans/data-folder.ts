import { fileURLToPath } from "node:url";

/** Real scans with known answers. Tests that read them are skipped, with a message, when the folder is not there. */
export const DATA = process.env.APP_TEST_DATA ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url));

/** Scans of a million points, which take seconds each: read with APP_TEST_FULL=1, as `npm run test:large` does. */
const SLOW = /treeiso_LPine1_demo\.laz$/;
export const isQuick = (file: string): boolean => process.env.APP_TEST_FULL === "1" || !SLOW.test(file);
