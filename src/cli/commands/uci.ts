/** `sardonyx uci`, the default command. This module is only for `--help`: main.ts starts the engine without yargs. */
import { readSettings } from '../../app/options.js';
import { declareCommand, onOff } from '../declare-command.js';
import { runUciMode } from '../uci-mode.js';

export const uciCommand = declareCommand({
  command: ['uci', '$0'],
  describe: 'The engine itself: talks UCI on stdin and stdout',
  // biome-ignore format: a row a flag
  flags: {
    'show-hidden': onOff('List hidden options too, in the answer to `uci` and in this help', null),
    preload: onOff('No effect: the network is always loaded at the start', null),
  },
  engineFlags: 'listed',
  epilogue:
    '`sardonyx COMMAND --help` lists the flags of a command. Flags of the engine are UCI options and lines of a config ' +
    'file too: docs/options.md.',
  run: () => {
    const settings = readSettings(process.argv.slice(2).filter((arg) => arg !== 'uci'));
    if (!settings.ok) throw new Error(settings.error);
    runUciMode(settings.value);
  },
});
