import type { ScanExportRequest } from "../../../../../shared/contract/scan-export.ts";

/** File names of an export, without folder. */
export interface ScanFileNames {
  /** Of the XML file; null without one. */
  readonly xml: string | null;
  /** Of the data of each scan. */
  readonly data: readonly string[];
  /** Of the path of a spinning scanner, for each scan. */
  readonly trajectory: readonly string[];
}

const MAX_CHARACTERS = 80;
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** The names of a request's files: every one is a legal name on all systems, and no two are the same. */
export function scanFileNames(request: ScanExportRequest, extension: string): ScanFileNames {
  const base = safeName(withoutExtension(request.base_name ?? "")) || "scans";
  const taken = new Set<string>();
  const free = (stem: string, end: string): string => {
    let name = `${stem}${end}`;
    for (let i = 2; taken.has(name.toLowerCase()); i += 1) name = `${stem}_${i}${end}`;
    taken.add(name.toLowerCase());
    return name;
  };
  const xml = request.write_xml ? free(base, ".xml") : null;
  const data = request.scans.map(({ label }, i) => {
    const own = safeName(label ?? "");
    if (own === "") return free(request.scans.length === 1 && !request.write_xml ? base : `${base}_${i}`, extension);
    if (request.scans.length === 1 && !request.base_name) return free(own, extension);
    return free(request.base_position === "prefix" ? `${base}_${own}` : `${own}_${base}`, extension);
  });
  const trajectory = request.scans.map((_, i) => free(`${base}_${i}_traj`, ".csv"));
  return { xml, data, trajectory };
}

const withoutExtension = (name: string): string => {
  const last = name.replaceAll("\\", "/").split("/").at(-1) ?? "";
  return last.replace(/\.[A-Za-z0-9]{1,4}$/, "");
};

/** The text without characters that a system refuses in file names; "" if nothing is left. */
function safeName(text: string): string {
  const safe = [...text.normalize("NFC")]
    .map((c) => (/[\p{L}\p{N}\p{M} ._()+-]/u.test(c) ? c : "_"))
    .slice(0, MAX_CHARACTERS)
    .join("")
    .replace(/^[. ]+|[. ]+$/g, "");
  return RESERVED.test(safe) ? `_${safe}` : safe;
}
