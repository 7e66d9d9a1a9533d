#!/usr/bin/env node
// Runs the program of the package for this platform, which npm installs as an optional dependency. Must not do
// anything else: stdin, stdout, stderr and the exit code are the program's own.
"use strict";

const { spawnSync } = require("node:child_process");

const name = `@punchlist/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "punchlist.exe" : "punchlist";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`punchlist: the package ${name} is not installed. Either there is none for this platform, or optional`);
  console.error("dependencies were left out: `npm install -g --include=optional punchlist` brings them.");
  process.exit(1);
}

const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`punchlist: ${program}: ${error.message}`);
  process.exit(1);
}
if (signal) process.kill(process.pid, signal);
process.exit(status ?? 1);
