// `node scripts/train/make-crops.mjs FOLDER NAME FILE`
import { register } from "tsx/esm/api";

register();
await import("../../test/accuracy/wood-files.ts");
