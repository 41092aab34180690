import { OpenProjectRequest, SaveProjectRequest } from "../../../shared/contract/project.ts";
import { strings } from "../strings.ts";
import { bytes, count } from "../workflow/format.ts";
import { openProject, saveProject } from "../workflow/project.ts";
import { freeOperation } from "./operation.ts";

const words = strings.workflow.operations;

/** Saves the clouds of the list and what is shown as one file. */
export const save = freeOperation({
  id: "save",
  schema: SaveProjectRequest,
  leaves_work: false,
  words: words.save,
  run: async (request, context) => {
    const answer = await saveProject(request, context);
    return {
      facts: [
        [words.save.facts.clouds, count(answer.sessions)],
        [words.save.facts.size, bytes(answer.bytes)],
        [words.save.facts.file, answer.path],
      ],
      warnings: [...(answer.warnings ?? []), ...answer.missing_sessions.map(words.save.missing)],
    };
  },
});

/** Opens a project beside what is open. */
export const open = freeOperation({
  id: "open",
  schema: OpenProjectRequest,
  leaves_work: false,
  words: words.open,
  run: async ({ path }, context) => {
    const { opened, warnings } = await openProject(path, context);
    return { facts: [[words.open.facts.clouds, count(opened)]], warnings };
  },
});
