/** The door of analysis/: many positions at once, asked for and answered in JSON. */
export { AnalysisClient, type AnalysisModel, AnalysisSession } from './analysis-session.js';
