import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";

export function addProject(program: Command, perform: Perform): void {
  const project = program.command("project").description("look into a project file (.proj) without opening it");
  project
    .command("info")
    .description("list the clouds, octrees and sizes")
    .argument("<file>", "project file")
    .option("--json", "write one JSON document instead of the list")
    .action((file: string, { json = false }: { json?: boolean }) =>
      perform(async (deps) => (await import("./project.ts")).showInfo(file, json, deps)),
    );
  project
    .command("verify")
    .description("read every byte and name the first damaged member")
    .argument("<file>", "project file")
    .action((file: string) => perform(async (deps) => (await import("./project.ts")).verify(file, deps)));
  project
    .command("extract")
    .description("write the contents into a folder: columns as .npy, everything else as it is")
    .argument("<file>", "project file")
    .requiredOption("--out <folder>", "new or empty folder")
    .action((file: string, { out }: { out: string }) =>
      perform(async (deps) => (await import("./project.ts")).extract(file, out, deps)),
    );
  project.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  npm start -- project info plot.proj
  npm start -- project verify plot.proj
  npm start -- project extract plot.proj --out contents`;
