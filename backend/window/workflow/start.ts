import type { Client } from "../../../shared/client/index.ts";
import { OPERATIONS } from "../operations/index.ts";
import type { Strings } from "../strings.ts";
import type { CloudView } from "../view/cloud-view.ts";
import { Clouds } from "./clouds.ts";
import { cloudsPanel } from "./clouds-panel.ts";
import { Connection } from "./connection.ts";
import { connectionLine } from "./connection-line.ts";
import { byId } from "./dom.ts";
import { editBar } from "./edit-bar.ts";
import { Edits } from "./edits.ts";
import { isLost, Jobs, sentenceOf } from "./jobs.ts";
import { jobsPanel } from "./jobs-panel.ts";
import { TabMemory } from "./memory.ts";
import { Notices } from "./notices.ts";
import { desktopOf } from "./open-files.ts";
import { openPanel } from "./open-panel.ts";
import { operationsPanel } from "./operations-panel.ts";
import { openProject } from "./project.ts";
import { resultsPanel } from "./results-panel.ts";
import { Scene, type TreeList } from "./scene.ts";
import { sessionToolbar } from "./session-toolbar.ts";
import { TreeChoice } from "./tree-choice.ts";
import { TreePanel } from "./tree-panel.ts";

/** What the parts around the view are made of. */
export interface WorkflowParts {
  readonly client: Client;
  readonly view: CloudView;
  readonly strings: Strings;
  /** The page; elements are looked up by the ids of index.html. */
  readonly page: Document;
  /** Access token of the service; undefined where it asks for none. */
  readonly token: string | undefined;
}

/** Fills the panels around the view and connects them with the service. */
export function startWorkflow({ client, view, strings, page }: WorkflowParts): void {
  const texts = strings.workflow;
  const notices = new Notices(byId(page, "notices"), texts.notices);
  const memory = new TabMemory(sessionStorage, () => notices.add("warning", texts.connection.memoryFull));
  const scene = new Scene();
  const jobs = new Jobs((title, error) => {
    connection.noticed(error);
    notices.add("error", title, [sentenceOf(error)]);
  });
  const onFailure = (error: unknown) => connection.noticed(error);
  const clouds = new Clouds({ client, view, jobs, memory, texts: texts.clouds, onFailure });
  const edits = new Edits({
    client,
    memory,
    onChanged: (sessionIds) => {
      void clouds.learn();
      for (const id of sessionIds) void clouds.renew(id);
    },
    onFailure: (error) => {
      connection.noticed(error);
      if (!isLost(error)) notices.add("error", texts.edits.failed, [sentenceOf(error)]);
    },
    onPending: () => notices.add("warning", texts.connection.pending),
    onNoUndo: (why) => notices.add("warning", why === "elsewhere" ? texts.edits.elsewhere : texts.edits.tooOld),
  });
  const connection = new Connection(client, async () => {
    await clouds.refresh();
    await edits.resume(clouds.list.value.flatMap(({ summary }) => (summary ? [summary] : [])));
  });
  rememberTrees(scene, memory, clouds);
  clouds.closed.follow((id) => void (id !== null && edits.forget(id)));
  view.onProblem((message) => {
    notices.add("warning", message);
    connection.check();
  });

  view.onEvicted((sessionId) => void clouds.restore(sessionId));

  const desktop = desktopOf(window);
  const results = resultsPanel(texts.results, clouds, texts.trees.stale);
  const trees = new TreePanel(new TreeChoice(view, scene, clouds), texts.trees);
  byId(page, "details-panel").append(trees.element, results.element);
  connectionLine(page, connection, texts.connection);
  const open = { client, clouds, scene, jobs, notices, texts, showAll: () => view.fit() };
  openPanel(
    page,
    { ...open, openProject: (path, run) => openProject(path, { client, view, clouds, scene, texts, run }) },
    desktop,
  );
  cloudsPanel({ page, clouds, scene, jobs, texts: texts.clouds });
  const operations = operationsPanel({
    page,
    client,
    view,
    clouds,
    scene,
    jobs,
    notices,
    connection,
    desktop,
    texts,
    operations: OPERATIONS,
    onOutcome: results.add,
  });
  jobsPanel(page, jobs, texts.jobs);
  editBar({ page, view, clouds, edits, texts: texts.edits });
  sessionToolbar(page, edits, () => operations.reveal("save"), texts.edits);
  connection.check();
}

const isTreeList = (value: unknown): value is TreeList =>
  typeof value === "object" && value !== null && "trees" in value && Array.isArray(value.trees);

/** The tree list survives a reload of the page, and goes with its cloud. */
function rememberTrees(scene: Scene, memory: TabMemory, clouds: Clouds): void {
  const before = memory.read("trees", isTreeList);
  if (before) scene.trees.set(before);
  scene.trees.follow((list) => memory.write("trees", list));
  clouds.closed.follow((sessionId) => {
    if (sessionId !== null && scene.trees.value?.session_id === sessionId) scene.trees.set(null);
  });
}
