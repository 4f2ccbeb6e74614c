#!/usr/bin/env node
/**
 * The program: makes sure that it can run here, and reads the command line. It imports nothing of ours before, because an old Node would fail
 * there with a stack trace.
 */
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';

const OLDEST_NODE = [20, 19];

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  process.stderr.write(`Sardonyx needs Node ${OLDEST_NODE.join('.')} or later; this is ${process.version}\n`);
  process.exitCode = 1;
} else {
  leaveMissingFolder();
  void import('./command-line.js').then(({ readCommandLine }) => readCommandLine());
}

/** No thread can be started in a folder that was removed. */
function leaveMissingFolder(): void {
  try {
    process.cwd();
  } catch {
    const folder = [process.env.HOME ?? '', dirname(process.execPath), tmpdir(), '/'].find(enter);
    process.stderr.write(`The current folder is gone; files are looked for in ${folder}\n`);
  }
}

/** HOME may name a file, or a folder of somebody else. */
function enter(folder: string): boolean {
  try {
    process.chdir(folder);
    return true;
  } catch {
    return false;
  }
}
