/** Where what this user has chosen is kept, by the convention of the system; undefined without a home. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function getConfigFolder(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const { SARDONYX_CONFIG, XDG_CONFIG_HOME, APPDATA } = environment;
  if (SARDONYX_CONFIG) return SARDONYX_CONFIG;
  if (process.platform === 'win32') return APPDATA ? join(APPDATA, 'sardonyx') : undefined;
  if (process.platform !== 'darwin' && XDG_CONFIG_HOME) return join(XDG_CONFIG_HOME, 'sardonyx');
  const home = environment.HOME || homedir();
  if (!home) return undefined;
  return process.platform === 'darwin'
    ? join(home, 'Library', 'Application Support', 'sardonyx')
    : join(home, '.config', 'sardonyx');
}
