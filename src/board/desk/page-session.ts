/** One page at the desk: checks its requests, carries them out, answers each one once. */
import * as v from 'valibot';
import { listLegalMoves, parseUciMove } from '../../chess/index.js';
import { createGamePosition, type GamePosition } from '../../engine/index.js';
import { cutText, describeRefusal, unwrap } from '../../util/index.js';
import type { Answers, PortEvent, Reply } from '../protocol/replies.js';
import { type PositionText, type Request, type RequestOf, requestSchema } from '../protocol/requests.js';
import { createTreeNode, probeMoves } from './engine-answers.js';
import { type DeskClient, DeskTask, type EngineDesk } from './engine-desk.js';
import type { EngineServices, LoopServices, MatchServices } from './engine-services.js';

/** Searches with an end that one page may have waiting. */
const MOST_WAITING = 8;

export class PageSession implements DeskClient {
  constructor(
    private readonly desk: EngineDesk,
    private readonly services: EngineServices,
    private readonly send: (message: Reply | PortEvent) => void,
  ) {}

  emit(event: PortEvent): void {
    this.send(event);
  }

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

  private async carryOut(request: Request): Promise<Answers[Request['type']]> {
    const { desk, services } = this;
    switch (request.type) {
      case 'describe':
        return services.describe();
      case 'analyse':
        return this.analyse(request);
      case 'stop':
        desk.stopAnalysis(this);
        return null;
      case 'think':
        return this.think(request);
      case 'hurry':
        desk.hurry(this, request.think);
        return null;
      case 'setOption':
        await services.setOption(request.name, request.value);
        return null;
      case 'useNetwork':
        await services.useNetwork(request.name);
        return null;
      case 'explain':
        return services.explain(readPosition(request.position), request.move);
      case 'tree': {
        const { depth, minVisits } = request;
        const tree = await desk.runQuietly((engine) => {
          if (!desk.hasTreeOf(this)) throw new Error('The engine has searched for another page since: analyse again');
          return engine.dumpTree({ depth, minVisits });
        });
        return tree === null ? null : createTreeNode(tree);
      }
      case 'readLoop':
        return services.loop?.read() ?? null;
      case 'countLoopGames':
        return this.requireLoop().countGames(request.generation);
      case 'readLoopGame':
        return this.requireLoop().readGame(request.generation, request.kind, request.game);
      case 'startLoop':
        this.requireLoop().start();
        return null;
      case 'stopLoop':
        this.requireLoop().stop();
        return null;
      case 'changeBest':
        return this.requireLoop().changeBest(request.kind, request.network);
      case 'readMatchOffer':
        return services.matches?.offer ?? { books: [] };
      case 'listMatches':
        return services.matches?.list() ?? [];
      case 'readMatch':
        return this.requireMatches().read(request.name, request.from);
      case 'readMatchGame':
        return this.requireMatches().readGame(request.name, request.game);
      case 'startMatch': {
        const { type: _type, id: _id, ...settings } = request;
        return this.requireMatches().start(settings);
      }
      case 'pauseMatch':
        this.requireMatches().pause(request.name);
        return null;
      case 'resumeMatch':
        this.requireMatches().resume(request.name);
        return null;
      case 'deleteMatch':
        this.requireMatches().remove(request.name);
        return null;
      case 'probe': {
        const game = readPosition(request.position);
        return desk.runQuietly((engine) => probeMoves(engine, game));
      }
    }
  }

  private requireLoop(): LoopServices {
    if (this.services.loop === null) throw new Error('Start the server with --loop=FOLDER to see a training loop');
    return this.services.loop;
  }

  private requireMatches(): MatchServices {
    if (this.services.matches === null) throw new Error('Matches cannot be played here');
    return this.services.matches;
  }

  private analyse({ id, position, multiPv, searchMoves }: RequestOf<'analyse'>): null {
    const game = readPosition(position);
    if (listLegalMoves(game.position).length === 0) throw new Error('The game is over: there is nothing to analyse');
    const moves = searchMoves?.map((text) => unwrap(parseUciMove(game.position, text)));
    const request = { infinite: true, ...(moves === undefined ? {} : { searchMoves: moves }) };
    const ignore = (): void => undefined;
    this.desk.analyse(new DeskTask(this, id, { position, request, multiPv, elo: null }, null, ignore));
    return null;
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
