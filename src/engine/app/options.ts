/** The second, light door of app/: settings, package and crash reports, without the engine's code; enough to answer `uci`. */

export { createOptionStore, listOptionSections, listOptionSpecs } from './all-options.js';
export { CrashReporter } from './crash-report.js';
export { parseFlags } from './flags.js';
export { readBuild, readVersion } from './program-version.js';
export { applySettings, createSettings, readSettings, type Settings } from './settings.js';
