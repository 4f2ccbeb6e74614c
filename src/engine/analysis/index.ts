/** The door of analysis/: many positions at once, asked for and answered in JSON. */

export { AnalysisClient } from './analysis-client.js';
export { type AnalysisModel, AnalysisSession } from './analysis-session.js';
