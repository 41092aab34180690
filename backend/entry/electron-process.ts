import { utilityProcess } from "electron";
import { lineSplitter } from "./log-lines.ts";
import type { BackendProcess, SupervisorOptions } from "./supervisor-contract.ts";

/** Starts `entry` as an Electron utility process. Call it after the app is ready. */
export function utilityProcessStarter(entry: string): SupervisorOptions["startProcess"] {
  return (env): BackendProcess => {
    const child = utilityProcess.fork(entry, [], {
      env,
      serviceName: "Point cloud backend",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return {
      onMessage: (listener) => {
        child.on("message", listener);
      },
      onLine: (listener) => {
        for (const stream of [child.stdout, child.stderr]) {
          const take = lineSplitter(listener);
          stream?.setEncoding("utf8");
          stream?.on("data", take);
          stream?.on("end", () => take(undefined));
        }
      },
      onExit: (listener) => {
        child.once("exit", listener);
      },
      post: (message) => child.postMessage(message),
      kill: () => {
        const { pid } = child; // undefined after the end, so it never names another process
        if (pid === undefined) return;
        try {
          process.kill(pid, "SIGKILL"); // child.kill() sends SIGTERM, which a hung process does not handle
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
        }
      },
    };
  };
}
