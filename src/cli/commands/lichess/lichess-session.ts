/**
 * The engine behind a lichess provider: a UCI session in this process. A piece of work becomes UCI lines; of the answer lichess
 * gets the `info` lines with a score and the `bestmove`.
 */

import type { OptionStore } from '../../../base/options/index.js';
import { enginePorts } from '../../../engine/app/index.js';
import { readVersion } from '../../../engine/app/options.js';
import { UciSession } from '../../../engine/uci/index.js';
import type { LichessWork } from './lichess-work.js';

/** Options that lichess needs: its broker rejects `info` lines with wdl or movesleft. */
const FIXED_OPTIONS = {
  UCI_AnalyseMode: 'true',
  UCI_Chess960: 'true',
  UCI_ShowWDL: 'false',
  UCI_ShowMovesLeft: 'false',
  UCI_ShowEPS: 'false',
  VerboseMoveStats: 'false',
  PerPVCounters: 'false',
};

export class LichessSession {
  private session: UciSession | null = null;
  private ended: () => void = () => {};
  private sessionId = '';
  private readonly values = new Map<string, string>();
  private onLine: (line: string) => void = () => {};
  private fault: string | null = null;

  /**
   * @param threads more than lichess may ask for; work that asks for as many gets what suits the backend
   * @param note warnings of the engine
   */
  constructor(
    private readonly options: OptionStore,
    private readonly threads: number,
    private readonly mostHashMb: number,
    private readonly note: (text: string) => void,
  ) {}

  /**
   * Searches until the limit of the work, or `stop`.
   * @param onLine called with each line for lichess
   * @returns why it cannot be analysed, null when it has been
   */
  async analyse(work: LichessWork, onLine: (line: string) => void): Promise<string | null> {
    const session = this.open();
    this.fault = null;
    if (work.sessionId !== this.sessionId) session.receive('ucinewgame');
    this.sessionId = work.sessionId;
    this.set('Threads', work.threads >= this.threads ? this.options.getNumber('Threads') : work.threads);
    this.set('Hash', Math.min(this.mostHashMb, work.hashMb));
    this.set('MultiPV', work.multiPv);
    const moves = work.moves.length === 0 ? '' : ` moves ${work.moves.join(' ')}`;
    session.receive(`position fen ${work.initialFen}${moves}`);
    if (this.fault !== null) return this.fault;
    return new Promise((resolve) => {
      this.onLine = (line) => {
        onLine(line);
        if (!line.startsWith('bestmove')) return;
        this.onLine = () => {};
        resolve(null);
      };
      session.receive(`go ${work.limit}`);
    });
  }

  stop(): void {
    this.session?.receive('stop');
  }

  /** Frees network and tree; the next work loads them again. */
  close(): Promise<void> {
    const { session } = this;
    this.session = null;
    this.sessionId = '';
    this.values.clear();
    if (session === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.ended = resolve;
      session.end();
    });
  }

  private open(): UciSession {
    if (this.session !== null) return this.session;
    const options = this.options.clone();
    this.session = new UciSession({
      version: readVersion(),
      showHidden: false,
      options,
      ports: enginePorts,
      writeLine: (line) => this.read(line),
      bench: null,
      onFault: (error) => this.note(`Internal error: ${String(error)}`),
      onEnd: () => this.ended(),
    });
    for (const [name, value] of Object.entries(FIXED_OPTIONS)) this.set(name, value);
    return this.session;
  }

  private set(name: string, value: string | number): void {
    const text = String(value);
    if (this.values.get(name) === text) return;
    this.values.set(name, text);
    this.session?.receive(`setoption name ${name} value ${text}`);
  }

  private read(line: string): void {
    if (line.startsWith('error ')) {
      this.fault = line.slice('error '.length);
      this.note(this.fault);
    } else if (line.startsWith('info string ')) this.note(line.slice('info string '.length));
    else if (line.startsWith('bestmove') || /^info .*\bscore .*\bpv /.test(line)) this.onLine(line);
  }
}
