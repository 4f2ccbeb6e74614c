/** `sardonyx uci`, the default command. This module is only for `--help`: main.ts starts the engine without yargs. */
import type { CommandModule } from 'yargs';
import { readSettings } from '../../app/options.js';
import { addListedEngineFlags } from '../engine-flags.js';
import { runUciMode } from '../uci-mode.js';

export const uciCommand: CommandModule = {
  command: ['uci', '$0'],
  describe: 'The engine itself: talks UCI on stdin and stdout',
  builder: (yargs) =>
    addListedEngineFlags(yargs)
      .option('show-hidden', {
        type: 'boolean',
        describe: 'List hidden options too, in the answer to `uci` and in this help',
      })
      .epilogue(
        '`sardonyx COMMAND --help` lists the flags of a command. Flags of the engine are UCI options and lines of a config ' +
          'file too: docs/options.md.',
      ),
  handler: () => {
    const settings = readSettings(process.argv.slice(2).filter((arg) => arg !== 'uci'));
    if (!settings.ok) throw new Error(settings.error);
    runUciMode(settings.value);
  },
};
