/**
 * `sardonyx lichess-engine`: analyses for the user's board on lichess.org, as an external engine. It registers the engine, waits
 * for work and streams the analysis, until it is interrupted.
 */

import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { getProgramCommand } from '#platform/machine.js';
import { declareCommand, text, whole } from '../../declare-command.js';
import { readEngineFlags } from '../../engine-flags.js';
import { INTERRUPTED, Interruption, printLine, printNote } from '../../output.js';
import { acquireWork, LichessRefusal, type LichessServers, registerEngine, submitWork } from './lichess-api.js';
import { LichessSession } from './lichess-session.js';
import { type LichessWork, parseLichessWork } from './lichess-work.js';

const TOKEN_VARIABLE = 'LICHESS_API_TOKEN';
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;

export const lichessEngineCommand = declareCommand({
  command: 'lichess-engine',
  describe: 'Analyse for your board on lichess.org, as an external engine',
  // biome-ignore format: a row a flag
  flags: {
    name: text('Name of the engine in lichess’s list', { default: 'Sardonyx' }),
    'max-threads': whole({ min: 1, default: availableParallelism() }, 'Most threads that lichess may ask for'),
    'max-hash': whole({ min: 1, default: 1024 }, 'Largest evaluation cache in MB'),
    'keep-alive': whole({ min: 1, default: 300 }, 'Seconds without work after which memory is freed'),
    lichess: text('Address of lichess', { default: 'https://lichess.org' }),
    broker: text('Address of its broker', { default: 'https://engine.lichess.ovh' }),
  },
  engineFlags: 'named',
  epilogue:
    `The environment variable ${TOKEN_VARIABLE} holds a token with the scopes engine:read and engine:write, from ` +
    'https://lichess.org/account/oauth/token/create?scopes[]=engine:read&scopes[]=engine:write',
  run: async (args, given) => {
    const token = process.env[TOKEN_VARIABLE] ?? '';
    if (token === '')
      throw new Error(`Set ${TOKEN_VARIABLE} to a token of lichess: ${getProgramCommand()} lichess-engine --help`);
    const options = await readEngineFlags(given);
    const servers: LichessServers = { registry: args.lichess, broker: args.broker, token };
    const secret = randomBytes(24).toString('base64url');
    await registerEngine(servers, {
      name: args.name,
      maxThreads: args['max-threads'],
      maxHash: args['max-hash'],
      variants: ['chess'],
      providerSecret: secret,
    });
    printLine(`${args.name} is registered; choose it in the analysis board's menu. Ctrl-C ends it.`);
    const session = new LichessSession(options, args['max-threads'], args['max-hash'], printNote);
    const interruption = new Interruption();
    try {
      await new Provider(servers, secret, session, args['keep-alive'], interruption.signal).run();
    } finally {
      interruption.dispose();
      await session.close();
    }
    process.exitCode = INTERRUPTED;
  },
});

class Provider {
  /** The work under way; resolves when the engine is free. */
  private running: Promise<void> = Promise.resolve();
  private isBusy = false;
  private lastUsed = performance.now();

  constructor(
    private readonly servers: LichessServers,
    private readonly secret: string,
    private readonly session: LichessSession,
    private readonly keepAliveSeconds: number,
    private readonly signal: AbortSignal,
  ) {}

  /** Runs until the signal. Rejects only when lichess refuses the engine. */
  async run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.signal.aborted) {
      try {
        const json = await acquireWork(this.servers, this.secret, this.signal);
        pauseMs = FIRST_PAUSE_MS;
        if (json === null) await this.rest();
        else await this.take(json);
      } catch (error) {
        if (this.signal.aborted) break;
        if (error instanceof LichessRefusal) throw error;
        printNote((error as Error).message);
        await wait(pauseMs, undefined, { signal: this.signal }).catch(() => {});
        pauseMs = Math.min(LONGEST_PAUSE_MS, 1.5 * pauseMs);
      }
    }
    this.session.stop();
    await this.running;
  }

  /** New work ends the running analysis, because the board shows another position. */
  private async take(json: unknown): Promise<void> {
    const work = parseLichessWork(json);
    if (!work.ok) throw new Error(work.error);
    this.session.stop();
    await this.running;
    this.isBusy = true;
    this.running = this.handle(work.value).finally(() => {
      this.isBusy = false;
      this.lastUsed = performance.now();
    });
  }

  private async handle(work: LichessWork): Promise<void> {
    const abort = new AbortController();
    let isOpen = true;
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const lines = new ReadableStream<Uint8Array>({
      start: (own) => {
        controller = own;
      },
      // The broker has closed the connection.
      cancel: () => {
        isOpen = false;
        this.session.stop();
      },
    });
    const submitted = submitWork(this.servers, work.id, lines, abort.signal)
      .catch((error: Error) => {
        if (!this.signal.aborted && !/terminated|other side closed|ECONNRESET|socket/i.test(error.message)) {
          printNote(error.message);
        }
      })
      .finally(() => {
        isOpen = false;
        this.session.stop();
      });
    const fault = await this.session.analyse(work, (line) => {
      if (isOpen) controller.enqueue(Buffer.from(`${line}\n`));
    });
    if (fault !== null) abort.abort();
    else if (isOpen) controller.close();
    await submitted;
  }

  private async rest(): Promise<void> {
    if (!this.isBusy && performance.now() - this.lastUsed > 1000 * this.keepAliveSeconds) await this.session.close();
  }
}
