import { fileURLToPath } from "node:url";

/** Real scans with known answers. Tests that read them are skipped, with a message, when the folder is not there. */
export const DATA = process.env.APP_TEST_DATA ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url));
