/** The second, light door of app/: settings, package and crash reports, without the engine's code; enough to answer `uci`. */
export { CrashReporter } from './crash-report.js';
export { parseFlags } from './flags.js';
export { createOptionStore, listOptionSections, listOptionSpecs } from './option-list.js';
export { readBuild, readVersion } from './package-info.js';
export { createSettings, readSettings, type Settings } from './settings.js';
