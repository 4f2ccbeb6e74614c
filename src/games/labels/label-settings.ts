/**
 * The settings of a labelling run. They are saved beside the output: a run is resumed only with the settings it began with,
 * because game n depends on all of them.
 */
import type { SourceFile, SourceFilter } from './label-sources.js';

export interface LabelSettings {
  readonly seed: number;
  readonly nodes: number;
  readonly multiPv: number;
  /** Share of plies where the move is drawn from the scored moves, uniform per game between the two. */
  readonly wander: readonly [least: number, most: number];
  /** The same for plies where any legal move is drawn. */
  readonly blunder: readonly [least: number, most: number];
  /** Temperature of the choice among the scored moves: weight = exp(−loss / temperature). */
  readonly temperatureCp: number;
  /** A game stops when the score stays beyond this for `resignPlies` plies … */
  readonly resignCp: number;
  readonly resignPlies: number;
  /** … unless it is one of the share played to the end. */
  readonly playOut: number;
  readonly maxPlies: number;
  readonly sources: readonly StartSource[];
  /** First digits of the hash of the network whose evaluation is compared with the labels; absent without one. */
  readonly weights?: string;
}

/** Of a run that labels positions of existing files. */
export interface PositionSettings extends SourceFilter, Pick<LabelSettings, 'seed' | 'nodes' | 'multiPv' | 'weights'> {
  readonly from: readonly SourceFile[];
  /** Share of the plies that are labelled, or searched for leaves. */
  readonly sample: number;
  /** Plies at the start of each game that are skipped. */
  readonly skipPlies: number;
  /** Only positions with the player to move. */
  readonly playerToMove: boolean;
  /** Whether the plies themselves are labelled, or only leaves. */
  readonly labelsRoots: boolean;
  /** Nodes of our search that are labelled for each ply, and the nodes that it visits. */
  readonly leaves: number;
  readonly leafNodes: number;
}

/** Where games start: a book file, `startpos`, or `endgames` (random positions of few pieces). */
export interface StartSource {
  readonly book: string;
  /** Share of the games, relative to the other sources. */
  readonly weight: number;
  /** Random plies after the start, uniform between the two; they carry no scores. */
  readonly randomPlies: readonly [least: number, most: number];
}
