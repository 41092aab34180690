import { BackendSupervisor } from "../../../backend/entry/supervisor.ts";
import type { StateChange, SupervisorOptions } from "../../../backend/entry/supervisor-contract.ts";
import { FAKE_VERSION, FakeBackendProcess } from "./fake-backend-process.ts";

/** A supervisor over fake processes, and everything it did. */
export function supervise(changed: Partial<SupervisorOptions> = {}) {
  const processes: FakeBackendProcess[] = [];
  const changes: StateChange[] = [];
  const lines: string[] = [];
  const supervisor = new BackendSupervisor({
    startProcess: (env) => {
      const process = new FakeBackendProcess(env, 100 + processes.length);
      processes.push(process);
      return process;
    },
    instanceId: "window-1",
    dataDir: "/data",
    octreeCacheRoot: "/cache",
    env: { PATH: "/bin", EMPTY: undefined, APP_BACKEND_PORT: "99", APP_AUTH_TOKEN: "inherited-token-of-someone" },
    version: FAKE_VERSION,
    onState: (change) => changes.push(change),
    onLog: (line) => lines.push(line),
    ...changed,
  });
  const at = (index: number): FakeBackendProcess => {
    const process = processes[index];
    if (!process) throw new Error(`only ${processes.length} processes were started`);
    return process;
  };
  return { supervisor, processes, changes, lines, at, states: () => changes.map(({ state }) => state) };
}

/** The same, ready. */
export async function running(changed: Partial<SupervisorOptions> = {}) {
  const world = supervise(changed);
  const started = world.supervisor.start();
  world.at(0).ready();
  await started;
  return world;
}
