/** The engine of `sardonyx board`, over a WebSocket. A lost connection is made again, first soon, then ever more seldom. */
import type { PortEvent, Reply } from '../../protocol/replies.js';
import { type NumberedMessage, RequestPort } from './request-port.js';
import { sendFile } from './send-file.js';

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8000;
const RESTARTED = 'The server was started again: open the page by the address that it has printed';

export class SocketPort extends RequestPort {
  readonly offers = { matches: true, training: true, opensAddresses: false };
  private socket: WebSocket | null = null;
  private retryMs = FIRST_RETRY_MS;
  private isClosed = false;
  private readonly unsent: string[] = [];

  constructor(private readonly url: string) {
    super();
    this.connect();
  }

  async openNetwork(source: File | string): Promise<void> {
    if (typeof source === 'string')
      throw new Error('The server opens no address: download the network, and open the file');
    const name = await sendFile('network', source);
    await this.send('useNetwork', { name }).answer;
  }

  async removeNetwork(): Promise<void> {
    throw new Error('The server keeps its networks until it ends');
  }

  close(): void {
    this.isClosed = true;
    this.socket?.close();
  }

  protected override post(message: NumberedMessage): void {
    const text = JSON.stringify(message);
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
    else this.unsent.push(text);
  }

  private connect(): void {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onopen = () => {
      this.retryMs = FIRST_RETRY_MS;
      for (const text of this.unsent.splice(0)) socket.send(text);
      this.changeState('open');
    };
    socket.onmessage = ({ data }) => this.receive(JSON.parse(String(data)) as Reply | PortEvent);
    socket.onclose = () => {
      this.unsent.length = 0;
      this.changeState('lost');
      if (this.isClosed) return;
      void this.explainLoss();
      setTimeout(() => this.connect(), this.retryMs);
      this.retryMs = Math.min(LONGEST_RETRY_MS, 2 * this.retryMs);
    };
  }

  /** A server that answers, but not to this page, is another one at the same address: it has another token. */
  private async explainLoss(): Promise<void> {
    const response = await fetch('./', { method: 'HEAD', cache: 'no-store' }).catch(() => null);
    if (response?.status !== 401 && response?.status !== 403) return;
    if (this.socket?.readyState !== WebSocket.OPEN) this.changeState('lost', RESTARTED);
  }
}
