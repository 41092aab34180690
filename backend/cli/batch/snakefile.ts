/**
 * The workflow for Snakemake 7: a rule per kind of job, tiles and files from plan.json, what differs between runs from
 * config.json. Every output is moved to its place when it is whole, so a run that was killed goes on where it was.
 */
export const SNAKEFILE = `# Written by the command batch; changes are lost.
import json

configfile: "config.json"

PLAN = json.load(open("plan.json"))
TILES = {tile["id"]: tile for tile in PLAN["tiles"]}
FILES = {file["id"]: file for file in PLAN["files"]}
MISSING = set(config["missing"])
FOUND = [tile for tile in TILES if tile not in MISSING]
PROGRAM = config["program"]


def files_of(wildcards):
    return [PLAN["files"][i] for i in TILES[wildcards.tile]["files"]]


def sources(wildcards):
    return [file["path"] for file in files_of(wildcards)]


# A copy that is unpacked again for one tile is no reason to repeat the tiles beside it.
def unpacked(wildcards):
    return [ancient(f"unpacked/{file['id']}.las") for file in files_of(wildcards) if file["compressed"]]


# The files that the ground is measured in: themselves, or their unpacked copies.
def measured_files(is_unpacked):
    files = [PLAN["files"][i] for i in sorted({i for window in PLAN["windows"] for i in window["files"]})]
    if not is_unpacked:
        return [file["path"] for file in files]
    return [ancient(f"unpacked/{file['id']}.las") for file in files if file["compressed"]]


rule all:
    input:
        "merged/numbers.json",
        [f"clouds/.{tile}.done" for tile in FOUND],


rule unpack:
    input:
        lambda wildcards: FILES[wildcards.file]["path"],
    output:
        temp("unpacked/{file}.las"),
    log:
        "logs/unpack-{file}.log",
    threads: 1
    resources:
        mem_mb=lambda wildcards: FILES[wildcards.file]["mem_mb"],
        runtime=lambda wildcards: FILES[wildcards.file]["minutes"],
    shell:
        "OMP_NUM_THREADS={threads} {PROGRAM} batch-unpack . {wildcards.file} > {log} 2>&1"


rule measure:
    input:
        lambda wildcards: measured_files(False),
        lambda wildcards: measured_files(True),
    output:
        "frame.json",
    log:
        "logs/measure.log",
    threads: 2
    resources:
        mem_mb=config["measure_mem_mb"],
        runtime=60,
    shell:
        "OMP_NUM_THREADS={threads} {PROGRAM} batch-measure . > {log} 2>&1"


rule tile:
    input:
        sources,
        unpacked,
        ["frame.json"] if PLAN["windows"] else [],
    output:
        "tiles/{tile}/result.json",
        "tiles/{tile}/labels.las",
    log:
        "logs/{tile}.log",
    threads: 1
    resources:
        mem_mb=lambda wildcards: TILES[wildcards.tile]["mem_mb"],
        runtime=lambda wildcards: TILES[wildcards.tile]["minutes"],
    shell:
        "OMP_NUM_THREADS={threads} {PROGRAM} batch-tile . {wildcards.tile} > {log} 2>&1"


rule merge:
    input:
        [f"tiles/{tile}/result.json" for tile in FOUND],
    output:
        "merged/numbers.json",
    log:
        "logs/merge.log",
    params:
        missing=" ".join(sorted(MISSING)),
    resources:
        mem_mb=config["merge_mem_mb"],
        runtime=60,
    shell:
        "{PROGRAM} batch-merge . {params.missing} > {log} 2>&1"


rule cloud:
    input:
        "tiles/{tile}/labels.las",
        "merged/numbers.json",
    output:
        "clouds/.{tile}.done",
    log:
        "logs/cloud-{tile}.log",
    threads: 1
    resources:
        mem_mb=lambda wildcards: TILES[wildcards.tile]["mem_mb"],
        runtime=lambda wildcards: TILES[wildcards.tile]["minutes"],
    shell:
        "OMP_NUM_THREADS={threads} {PROGRAM} batch-cloud . {wildcards.tile} > {log} 2>&1"
`;
