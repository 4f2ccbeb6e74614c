/** The door of training/: self-play games into training records. */
export { listPlayers, type SelfPlayPlayer } from './self-play-run.js';
export { playSelfPlaySession, type SelfPlaySummary } from './self-play-session.js';
export { LONGEST_GAME, type MoveLimits, type SelfPlaySettings } from './self-play-settings.js';
