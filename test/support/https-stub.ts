/** An HTTPS server on this machine with a certificate of its own, for tests of what goes over the network. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { repositoryRoot } from './shared-folder.js';

export interface HttpsStub {
  /** https://localhost:PORT */
  readonly address: string;
  /** What a program needs in its environment to trust the server, which this process trusts, and a cache of its own. */
  readonly environment: NodeJS.ProcessEnv;
  readonly folder: string;
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** @returns why there can be no such server here, false when there can */
export function findStubObstacle(): string | false {
  const { status } = spawnSync('openssl', ['version']);
  return status === 0 ? false : 'openssl, which makes the certificate, is not installed';
}

export async function startHttpsStub(handler: Handler): Promise<HttpsStub> {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-https-'));
  const [keyPath, certificatePath] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = spawnSync(
    'openssl',
    // biome-ignore format: one flag with its value after the other
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext',
      'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', keyPath, '-out', certificatePath],
    { encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(made.stderr);
  const server = createServer({ key: readFileSync(keyPath), cert: readFileSync(certificatePath) }, handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { createSecureContext } = tls;
  tls.createSecureContext = (settings) => {
    const made = createSecureContext(settings);
    made.context.addCACert(readFileSync(certificatePath));
    return made;
  };
  return {
    address: `https://localhost:${(server.address() as AddressInfo).port}`,
    environment: { ...process.env, NODE_EXTRA_CA_CERTS: certificatePath, SARDONYX_CACHE: join(folder, 'cache') },
    folder,
    close: async () => {
      tls.createSecureContext = createSecureContext;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The built program, while the server goes on answering.
 * @param input lines for an engine, which is told to quit when it has played
 */
export function runProgram(stub: HttpsStub, args: readonly string[], input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
    const options = { env: stub.environment, cwd: stub.folder, timeout: 900_000 };
    const child = execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
    if (input === '') child.stdin?.end();
    else child.stdin?.write(input);
    child.stdout?.on('data', (text: string) => {
      if (text.includes('bestmove')) child.stdin?.end('quit\n');
    });
  });
}
