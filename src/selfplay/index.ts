/** The door of selfplay/: games between engines and networks, and what is made of them. */
export { EngineError } from './client/engine-process.js';
export { createEngineSpec, type EngineSpec, parsePairs } from './client/engine-spec.js';
export { type AdjudicationRules, parseDrawRule, parseResignRule } from './game/adjudication.js';
export { LabelFiles } from './label/label-files.js';
export { runLabelling } from './label/label-run.js';
export type { LabelSettings, StartSource } from './label/label-settings.js';
export { openStartBooks, parseStartSource } from './label/start-books.js';
export { type MatchSetup, runMatch } from './match/match.js';
export { type LoggedGame, MatchLog } from './match/match-log.js';
export { createMatchOpenings } from './match/match-openings.js';
export { createReport, formatReport, type MatchReport } from './match/report.js';
export type { Standings } from './match/standings.js';
export type { OpeningOrder } from './openings/book.js';
export { createPlayerSource } from './players/player-source.js';
export { createPlayerSpec, type Pair, type PlayerSpec, parsePlayerWords } from './players/player-spec.js';
export { parseSprt } from './statistics/sprt.js';
