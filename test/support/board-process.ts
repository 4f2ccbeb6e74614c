/** `sardonyx board` as a user starts it, with the hash evaluator unless a test says otherwise. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { WebSocket } from 'ws';
import { repositoryRoot } from './shared-folder.js';

let isBuilt = false;

/** Once for all boards of a test file. Does nothing when the page is up to date. */
export function buildPage(): void {
  if (isBuilt) return;
  isBuilt = true;
  execFileSync(process.execPath, [join(repositoryRoot, 'scripts', 'build-page.mjs')], { stdio: 'inherit' });
}

/** A test that fails leaves its process running, and a file whose processes run does not end. */
const running = new Set<BoardProcess>();
after(() => Promise.all([...running].map((board) => board.stop())));

export class BoardProcess {
  errors = '';
  /** Lines on stdout behind the first URL. */
  readonly lines: string[] = [];
  private session: Promise<{ cookie: string; place: string }> | null = null;

  private constructor(
    readonly child: ChildProcess,
    /** With the token. */
    readonly url: string,
    /** Of this process alone; removed when it stops. */
    readonly folder: string,
  ) {
    child.stderr?.on('data', (chunk) => {
      this.errors += chunk;
    });
  }

  /** @param args with `--port=` alone the usual port; without, any */
  static async start(
    args: readonly string[] = ['--backend=hash'],
    environment: NodeJS.ProcessEnv = {},
  ): Promise<BoardProcess> {
    buildPage();
    const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
    const folder = mkdtempSync(join(tmpdir(), 'sardonyx-board-'));
    const matches = `--matches=${join(folder, 'matches')}`;
    const own = args.some((flag) => flag.startsWith('--port')) ? [] : ['--port=0'];
    const flags = ['--no-open', '--config=', ...own, matches, ...args.filter((flag) => flag !== '--port=')];
    const child = spawn(process.execPath, [program, 'board', ...flags], {
      env: { ...process.env, SARDONYX_DATA: join(folder, 'data'), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = createInterface({ input: child.stdout });
    const [url = ''] = await Promise.race([once(output, 'line'), once(output, 'close')]);
    const board = new BoardProcess(child, url, folder);
    running.add(board);
    child.once('exit', () => running.delete(board));
    output.on('line', (line) => board.lines.push(line));
    return board;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get origin(): string {
    return new URL(this.url).origin;
  }

  /** The cookie that the token is exchanged for, and the path to which browsers send it: that of the page, with a slash behind. */
  fetchSession(): Promise<{ cookie: string; place: string }> {
    this.session ??= fetch(this.lines.at(-1) ?? this.url, { redirect: 'manual' }).then((response) => {
      const set = response.headers.get('set-cookie') ?? '';
      return { cookie: set.split(';')[0], place: /Path=([^;]*)/.exec(set)?.[1] ?? '' };
    });
    return this.session;
  }

  async connect(): Promise<BoardSocket> {
    const { cookie, place } = await this.fetchSession();
    const socket = new WebSocket(`ws://127.0.0.1:${this.port}${place}engine`, {
      headers: { Cookie: cookie, Origin: this.origin },
    });
    await once(socket, 'open');
    return new BoardSocket(socket);
  }

  /** Sends a file as the page does. @param path below the page's */
  async send(path: string, body: string | Uint8Array): Promise<{ status: number; text: string }> {
    return this.fetch(path, { method: 'PUT', body: body as string });
  }

  async download(path: string): Promise<{ status: number; text: string }> {
    return this.fetch(path, {});
  }

  private async fetch(path: string, request: RequestInit): Promise<{ status: number; text: string }> {
    const { cookie, place } = await this.fetchSession();
    const headers = { Cookie: cookie, Origin: this.origin };
    const response = await fetch(`${this.origin}${place}${path}`, { ...request, headers });
    return { status: response.status, text: await response.text() };
  }

  /** @returns the exit status after Ctrl-C, once all that it has printed is in `errors` and `lines` */
  async stop(): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode;
    const end = once(this.child, 'close');
    this.child.kill('SIGINT');
    const [status] = await end;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
    return status;
  }
}

type Message = Record<string, unknown>;

export class BoardSocket {
  readonly received: Message[] = [];
  private readonly waiting: { wants: (message: Message) => boolean; resolve: (message: Message) => void }[] = [];
  private nextId = 1;

  constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Message;
      this.received.push(message);
      for (const waiter of this.waiting.filter(({ wants }) => wants(message))) {
        this.waiting.splice(this.waiting.indexOf(waiter), 1);
        waiter.resolve(message);
      }
    });
  }

  /** The next message that fits. */
  waitFor(wants: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => this.waiting.push({ wants, resolve }));
  }

  /** @returns the answer or refusal */
  ask(type: string, question: object = {}): Promise<Message> {
    const id = this.nextId++;
    const reply = this.waitFor(
      (message) => message.id === id && (message.type === 'answer' || message.type === 'refusal'),
    );
    this.socket.send(JSON.stringify({ type, id, ...question }));
    return reply;
  }

  close(): void {
    this.socket.terminate();
  }
}
