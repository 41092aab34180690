import { createInterface } from "node:readline";
import { app, BrowserWindow, dialog } from "electron";
import { openAppWindow } from "../../../backend/entry/app-window.ts";
import { attachWindow, createSupervisor } from "../../../backend/entry/electron-backend.ts";
import type { DriverCommand, DriverEvent } from "./protocol.ts";

/*
 * Main process of the Electron test: drives the supervisor library as an app would. Takes commands as JSON lines on
 * stdin, answers with JSON lines on stdout.
 */

const { TEST_ENTRY: entry = "", TEST_FOLDER: folder = "" } = process.env;

const say = (event: DriverEvent) => process.stdout.write(`${JSON.stringify(event)}\n`);

async function main(): Promise<void> {
  await app.whenReady();
  const started = performance.now();
  const backend = createSupervisor({
    entry,
    instanceId: "window-1",
    dataDir: `${folder}/data`,
    octreeCacheRoot: `${folder}/octrees`,
    onState: (change) => say({ event: "state", ms: performance.now() - started, token: backend.token, ...change }),
    onLog: (line) => process.stderr.write(`${line}\n`),
  });
  app.on("window-all-closed", () => undefined); // the test says when to quit
  createInterface({ input: process.stdin }).on("line", (line) => {
    run(JSON.parse(line) as DriverCommand).catch((error: unknown) => say({ event: "failed", message: String(error) }));
  });

  let asked = 0;
  let button = 0;
  let keeps: boolean | null = null;
  dialog.showMessageBox = async () => {
    asked += 1;
    return { response: button, checkboxChecked: false };
  };
  const inPage = (code: string) => BrowserWindow.getAllWindows()[0]?.webContents.executeJavaScript(code);

  const run = async (command: DriverCommand): Promise<void> => {
    if (command.do === "fetch") {
      const window = new BrowserWindow({ show: false });
      if (command.attach) attachWindow(window, backend);
      await window.loadURL(command.page);
      const text = (await window.webContents.executeJavaScript(fetchAll(command.urls))) as string;
      say({ event: "fetched", statuses: JSON.parse(text) as number[] });
      if (!command.attach) window.destroy();
    }
    if (command.do === "app-window") {
      if (backend.state === "stopped") await backend.start();
      await openAppWindow(backend, {
        files: command.file === null ? [] : [command.file],
        isEnding: () => false,
        closeAgain: (window) => window.close(),
        stay: () => undefined,
        closed: (keepsSessions) => {
          keeps = keepsSessions;
        },
      });
      const what = command.file === null ? "button" : "input[type=checkbox]"; // listed, or also drawn
      await inPage(waitFor(`document.querySelector("#clouds-panel .item ${what}")`));
      say({ event: "opened" });
    }
    if (command.do === "operation") {
      await inPage(`document.querySelector("#operation-${command.id}").open = true`);
      await inPage(waitFor(`document.querySelector("#operation-${command.id} form")`));
      await inPage(`document.querySelector("#operation-${command.id} form").requestSubmit()`);
      await inPage(waitFor(ALL_DONE));
      say({ event: "operated" });
    }
    if (command.do === "close-app-window") {
      button = command.button;
      BrowserWindow.getAllWindows()[0]?.close();
      await new Promise((resolve) => setTimeout(resolve, 200)); // for what closing has begun
      if (BrowserWindow.getAllWindows().length === 0) await backend.stop();
      say({ event: "closed", asked, is_open: BrowserWindow.getAllWindows().length > 0, keeps });
    }
    if (command.do === "close-window") {
      const at = performance.now();
      for (const window of BrowserWindow.getAllWindows()) window.close();
      const exit = await backend.stop(); // the one that the closed window began
      say({ event: "stopped", ms: performance.now() - at, ...exit });
    }
    if (command.do === "quit") app.exit(0);
  };
  await backend.start();
}

/** Code for the page: the status of each address, 0 where the browser refused. */
const fetchAll = (urls: readonly string[]) =>
  `Promise.all(${JSON.stringify(urls)}.map((url) => fetch(url).then((r) => r.status, () => 0))).then(JSON.stringify)`;

/** The run after the one that opened the file has ended. */
const ALL_DONE = `document.querySelectorAll("#jobs-panel .job").length > 1 &&
  [...document.querySelectorAll("#jobs-panel progress")].every(({ hidden }) => hidden)`;

/** Code for the page: waits until the expression is true. */
const waitFor = (expression: string) =>
  `new Promise((done) => { const timer = setInterval(() => { if (${expression}) { clearInterval(timer); done(true); } }, 50); })`;

main().catch((error: unknown) => {
  say({ event: "failed", message: String(error) });
  app.exit(1);
});
