/** The second, light door of app/: settings, package and crash reports, without the engine's code; enough to answer `uci`. */
export { CrashReporter } from './crash-report.js';
export { readBuild, readVersion } from './program-version.js';
export {
  applySettings,
  createOptionStore,
  createSettings,
  listOptionSections,
  listOptionSpecs,
  parseFlags,
  readSettings,
  type Settings,
} from './settings.js';
