// Programs of others that do a job of ours, where Debian packages them. Nothing is installed unless asked for.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./folders.ts";
import { plotFiles } from "./inputs.ts";
import { type Figures, measured } from "./native.ts";

const PYTHON = "/usr/bin/python3"; // Debian's own: its packages do not reach other interpreters

interface Peer {
  readonly name: string;
  /** The package. */
  readonly debian: string;
  readonly present: () => boolean;
  readonly measure: (count: number) => Promise<Figures<"count">>;
}

/** A peer's measurement, or a sentence that says why there is none. */
export type PeerFigures =
  | { readonly note: string }
  | (Figures<"count"> & { readonly note: ""; readonly name: string; readonly rate: number });

const pandas: Peer = {
  name: "pandas",
  debian: "python3-pandas",
  present: () => spawnSync(PYTHON, ["-c", "import pandas"]).status === 0,
  measure: async (count) =>
    measured(["count"], PYTHON, [join(root, "test", "bench", "peer-pandas.py"), (await plotFiles(count, true)).txt]),
};

/** job -> its peer, or why it has none. */
export const peers: Readonly<Record<string, Peer | string>> = {
  text: pandas,
  las: "no Debian package reads LAS from a command line",
  octree: "PotreeConverter is no Debian package",
  "octree-50m": "PotreeConverter is no Debian package",
};

/** One measurement of the peer of a job with `count` rows. */
export async function measurePeer(job: string, count: number | undefined): Promise<PeerFigures> {
  const peer = peers[job];
  if (peer === undefined) return { note: "" };
  if (typeof peer === "string") return { note: peer };
  if (count === undefined) throw new Error(`job ${job} has a peer and no count`);
  if (!peer.present()) return { note: `${peer.name}: not installed (${peer.debian}; --install-peers installs it)` };
  const figures = await peer.measure(count);
  return { note: "", name: peer.name, ...figures, rate: figures.count / figures.wall_s };
}

/** What the bench's own program is built with where it is there: jobs of triangles then measure beside it. */
const EMBREE = { debian: "libembree-dev", present: () => existsSync("/usr/include/embree3/rtcore.h") } as const;

/** Installs the Debian packages of the peers. Call it before the bench's program is built. */
export function installPeers(): void {
  const programs = Object.values(peers).filter((peer) => typeof peer !== "string") as Peer[];
  const missing = [EMBREE, ...programs].filter(({ present }) => !present());
  const packages = [...new Set(missing.map(({ debian }) => debian))];
  if (packages.length === 0) return;
  const sudo = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  for (const step of [
    ["update", "-q"],
    ["install", "-yq", "--no-install-recommends", ...packages],
  ]) {
    const [program = "apt-get", ...args] = [...sudo, "apt-get", ...step];
    const { status } = spawnSync(program, args, {
      stdio: ["ignore", 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    if (status !== 0)
      throw new Error(`could not install ${packages.join(", ")}; try: sudo apt-get install ${packages.join(" ")}`);
  }
}
