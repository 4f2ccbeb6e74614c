/** `sardonyx uci`, also without its name: here for `--help`; main.ts starts the engine without yargs. */
import type { CommandModule } from 'yargs';
import { readSettings } from '../../app/options.js';
import { addEngineFlags } from '../engine-flags.js';
import { runUciMode } from '../uci-mode.js';

export const uciCommand: CommandModule = {
  command: ['uci', '$0'],
  describe: 'The engine itself: talks UCI on stdin and stdout',
  builder: (yargs) =>
    addEngineFlags(yargs).option('show-hidden', {
      type: 'boolean',
      describe: 'List hidden options too, in `uci`',
    }),
  handler: () => {
    const settings = readSettings(process.argv.slice(2).filter((arg) => arg !== 'uci'));
    if (!settings.ok) throw new Error(settings.error);
    runUciMode(settings.value);
  },
};
