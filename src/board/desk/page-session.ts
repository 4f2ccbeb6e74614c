/** One page at the desk: checks its requests, carries them out, answers each one once. */
import * as v from 'valibot';
import { cutText, describeRefusal, unwrap } from '../../base/util/index.js';
import { listLegalMoves, type Move, parseUciMove } from '../../chess/rules/index.js';
import { createGamePosition, type Engine, type GamePosition, type TablebaseResult } from '../../engine/core/index.js';
import type { TreeDump } from '../../search/index.js';
import type { Answers, PortEvent, Reply, TablebaseVerdict, TreeNode } from '../protocol/replies.js';
import { type PositionText, type RequestOf, type RequestType, requestSchema } from '../protocol/requests.js';
import { type DeskClient, DeskTask, type EngineDesk, formatMove, roundTo } from './engine-desk.js';
import type { EngineServices, LoopServices, MatchServices } from './engine-services.js';

/** Searches with an end that one page may have waiting. */
const MOST_WAITING = 8;

type Handler<Type extends RequestType> = (
  request: RequestOf<Type>,
) => Answers[Type] extends null ? Promise<void> | void : Promise<Answers[Type]> | Answers[Type];
type Handlers = { readonly [Type in RequestType]: Handler<Type> };

export class PageSession implements DeskClient {
  private readonly handlers: Handlers = {
    describe: () => this.services.describe(),
    analyse: (request) => this.analyse(request),
    stop: () => this.desk.stopAnalysis(this),
    think: (request) => this.think(request),
    hurry: ({ think }) => this.desk.hurry(this, think),
    setOption: ({ name, value }) => this.services.setOption(name, value),
    useNetwork: ({ name }) => this.services.useNetwork(name),
    explain: ({ position, move }) => this.services.explain(readPosition(position), move),
    tree: (request) => this.readTree(request),
    probe: ({ position }) => {
      const game = readPosition(position);
      return this.desk.runQuietly((engine) => probeMoves(engine, game));
    },
    readLoop: () => this.services.loop?.read() ?? null,
    countLoopGames: ({ generation }) => this.requireLoop().countGames(generation),
    readLoopGame: ({ generation, kind, game }) => this.requireLoop().readGame(generation, kind, game),
    startLoop: () => this.requireLoop().start(),
    stopLoop: () => this.requireLoop().stop(),
    changeBest: ({ kind, network }) => this.requireLoop().changeBest(kind, network),
    readMatchOffer: () => this.services.matches?.offer ?? { books: [] },
    listMatches: () => this.services.matches?.list() ?? [],
    readMatch: ({ name, from }) => this.requireMatches().read(name, from),
    readMatchGame: ({ name, game }) => this.requireMatches().readGame(name, game),
    startMatch: ({ type: _type, id: _id, ...settings }) => this.requireMatches().start(settings),
    pauseMatch: ({ name }) => this.requireMatches().pause(name),
    resumeMatch: ({ name }) => this.requireMatches().resume(name),
    deleteMatch: ({ name }) => this.requireMatches().remove(name),
  };

  constructor(
    private readonly desk: EngineDesk,
    private readonly services: EngineServices,
    readonly send: (message: Reply | PortEvent) => void,
  ) {}

  /** @param message anything: what does not fit is answered by one refusal */
  receive(message: unknown): void {
    const parsed = v.safeParse(requestSchema, message);
    if (!parsed.success) {
      this.send({ type: 'refusal', id: readId(message), error: `Not a request: ${describeIssue(parsed.issues[0])}` });
      return;
    }
    const request = parsed.output;
    const refuse = (error: unknown): void =>
      this.send({ type: 'refusal', id: request.id, error: describeRefusal(error) });
    this.carryOut(request).then((answer) => this.send({ type: 'answer', id: request.id, answer }), refuse);
  }

  close(): void {
    this.desk.leave(this);
  }

  private async carryOut<Type extends RequestType>(request: RequestOf<Type>): Promise<unknown> {
    const handle: Handler<Type> = this.handlers[request.type as Type];
    return (await handle(request)) ?? null;
  }

  private async readTree({ depth, minVisits }: RequestOf<'tree'>): Promise<Answers['tree']> {
    const { desk } = this;
    const tree = await desk.runQuietly((engine) => {
      return desk.hasTreeOf(this) ? engine.dumpTree({ depth, minVisits, mostNodes: MOST_TREE_NODES }) : null;
    });
    return tree === null ? null : createTreeNode(tree);
  }

  private requireLoop(): LoopServices {
    if (this.services.loop === null) throw new Error('Start the server with --loop=FOLDER to see a training loop');
    return this.services.loop;
  }

  private requireMatches(): MatchServices {
    if (this.services.matches === null) throw new Error('Matches cannot be played here');
    return this.services.matches;
  }

  private analyse({ id, position, multiPv, searchMoves, takes, about }: RequestOf<'analyse'>): void {
    const game = readPosition(position);
    if (listLegalMoves(game.position).length === 0) throw new Error('The game is over: there is nothing to analyse');
    const moves = searchMoves?.map((text) => unwrap(parseUciMove(game.position, text)));
    const request = { infinite: true, ...(moves === undefined ? {} : { searchMoves: moves }) };
    const ignore = (): void => undefined;
    this.desk.analyse(new DeskTask(this, id, { position, request, multiPv, elo: null, about }, null, ignore), takes);
  }

  private think({ id, position, limits, multiPv, elo }: RequestOf<'think'>): Promise<Answers['think']> {
    readPosition(position);
    if (this.desk.countWaiting(this) >= MOST_WAITING) throw new Error('Too many searches are waiting');
    const request = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
    return new Promise((resolve, reject) => {
      this.desk.think(new DeskTask(this, id, { position, request, multiPv, elo }, resolve, reject));
    });
  }
}

function readPosition({ fen, moves }: PositionText): GamePosition {
  return unwrap(createGamePosition(fen, moves));
}

function readId(message: unknown): number | null {
  const id = typeof message === 'object' && message !== null ? (message as { id?: unknown }).id : null;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : null;
}

/** Characters: an issue quotes what it found. */
const LONGEST_ISSUE = 1000;

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  return cutText(path === null ? issue.message : `${path}: ${issue.message}`, LONGEST_ISSUE);
}

/** In a message. */
const MOST_TREE_NODES = 4000;

function createTreeNode({ move, prior, visits, wl, d, terminal, children }: TreeDump): TreeNode {
  return {
    move: move === 0 ? '' : formatMove(move as Move),
    prior: roundTo(prior, 4),
    visits,
    wl: roundTo(wl, 4),
    d: roundTo(d, 4),
    terminal,
    children: children.map(createTreeNode),
  };
}

/** Looks up a position and each of its moves in the tablebases. Changes the engine's position. @returns null if no table has it */
export function probeMoves(engine: Engine, { rootFen, moves, position }: GamePosition): TablebaseVerdict | null {
  const played = moves.map(formatMove);
  const probe = (next: readonly string[]): TablebaseResult | null =>
    engine.setPosition(rootFen, [...played, ...next]).ok ? engine.probeTables() : null;
  const own = probe([]);
  if (own === null) return null;
  const rows = listLegalMoves(position).flatMap((move) => {
    const text = formatMove(move);
    const reply = probe([text]);
    // The result of the reply is the opponent's.
    return reply === null ? [] : [{ move: text, wdl: 0 - reply.wdl, dtz: reply.dtz === null ? null : 0 - reply.dtz }];
  });
  rows.sort((a, b) => b.wdl - a.wdl || rankDistance(a) - rankDistance(b));
  return { wdl: own.wdl, dtz: own.dtz, moves: rows };
}

/** A winner hurries and a loser delays: both want the smaller DTZ first, for a loser's is negative. */
function rankDistance({ dtz }: { readonly dtz: number | null }): number {
  return dtz ?? Number.POSITIVE_INFINITY;
}
