import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { remove, rename } from "../file-moves.ts";
import { tryLockFile } from "../native/core/column-files.ts";
import { processStartTime } from "../native/core/platform.ts";

/** The owner of a folder in a place shared by several backends. `start_time` detects a reused process id. */
export interface Lease {
  readonly pid: number;
  readonly start_time: string | null;
  readonly instance: string;
}

export const ownLease = (instance: string): Lease => ({
  pid: process.pid,
  start_time: processStartTime(process.pid),
  instance,
});

/** True if both are of the same process. */
export const isSame = (one: Lease, other: Lease): boolean =>
  one.pid === other.pid && one.start_time === other.start_time;

/** True while the process that wrote the lease runs. */
export function leaseAlive(lease: Lease): boolean {
  try {
    process.kill(lease.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // the process exists, but may not be signalled
  }
  return lease.start_time === null || processStartTime(lease.pid) === lease.start_time;
}

/** The lease in a file; undefined if it is missing, unreadable or damaged. */
export async function readLease(path: string): Promise<Lease | undefined> {
  try {
    return parseLease(await readFile(path, "utf8"));
  } catch {
    return undefined; // missing or torn: no owner
  }
}

function parseLease(text: string): Lease | undefined {
  const { check, ...value } = JSON.parse(text) as Partial<Lease> & { check?: number };
  if (check !== undefined && check !== crc32(JSON.stringify(value))) return undefined; // a flipped digit names another owner
  if (!Number.isInteger(value.pid) || (value.pid as number) <= 0) return undefined;
  return { pid: value.pid as number, start_time: value.start_time ?? null, instance: value.instance ?? "" };
}

/** Writes a lease atomically: a reader sees the old or the new one. */
export async function writeLease(path: string, lease: Lease & Record<string, unknown>): Promise<void> {
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, JSON.stringify({ ...lease, check: crc32(JSON.stringify(lease)) }));
    await rename(temporary, path);
  } catch (error) {
    await remove(temporary);
    throw error;
  }
}

/**
 * Takes over a lease whose owner is dead. A file lock ensures that only one of several backends checks and writes at a
 * time. False if the owner lives or another backend has the lock.
 */
export async function claimLease(path: string, mine: Lease): Promise<boolean> {
  const unlock = tryLockFile(`${path}.lock`);
  if (!unlock) return false;
  try {
    const owner = await readLease(path);
    if (owner && leaseAlive(owner)) return isSame(owner, mine);
    await writeLease(path, { ...mine });
    return true;
  } finally {
    unlock();
  }
}
