// Tests of commands in containers, against a real WebSocket server.
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import { Client, type ClientOptions } from '../../../client/index.ts';
import { closeNow, listenOnLoopback, portOf } from '../../support/loopback.ts';
import { rejection } from '../../support/rejection.ts';

const EXIT_3 = {
  status: 'Failure',
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: '3' }] },
};

/** A server with one pod, `cart`, whose command returns its input, until the input ends. */
class ExecServer {
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v5.channel.k8s.io' });
  /** Target and protocols of each handshake. */
  readonly handshakes: string[][] = [];
  /** The messages at the end of the input. */
  last: (Buffer | string)[] = [Buffer.from('\u0002oh'), Buffer.from(`\u0003${JSON.stringify(EXIT_3)}`)];
  readonly messages: string[] = [];

  constructor(token: string) {
    this.#server = createServer(({ url = '', headers }, response) => {
      const isPermitted = headers.authorization === `Bearer ${token}`;
      const status = isPermitted ? (url.includes('/cart/') ? 400 : 404) : 401;
      response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`refused with ${status}`);
    });
    this.#server.on('upgrade', (request, socket, head) => {
      const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(', ');
      this.handshakes.push([request.url ?? '', ...protocols]);
      const sent = Buffer.from(protocols.at(-1)?.split('.').at(-1) ?? '', 'base64url').toString();
      if (sent !== token || !request.url?.includes('/cart/')) {
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (accepted) => {
        accepted.on('message', (data: Buffer) => {
          this.messages.push(`${data[0]} ${data.subarray(1).toString()}`);
          if (data[0] === 0) accepted.send(Buffer.concat([Buffer.of(1), data.subarray(1)]));
          if (data[0] !== 255) return;
          for (const message of this.last) accepted.send(message);
          accepted.close();
        });
      });
    });
  }

  async start(): Promise<string> {
    return `http://127.0.0.1:${await listenOnLoopback(this.#server)}/prefix`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    await closeNow(this.#server);
  }

  get port(): number {
    return portOf(this.#server);
  }

  /** Breaks all connections. */
  lose(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  get open(): number {
    return this.#sockets.clients.size;
  }
}

describe('a command in a container', () => {
  let server: ExecServer;
  let address: string;

  beforeEach(async () => {
    server = new ExecServer('a?>token');
    address = await server.start();
  });
  afterEach(() => server.stop());

  const open = (token: ClientOptions['token'], pod = 'cart', options: object = {}) =>
    new Client({ server: address, token }).kubernetes.exec('shop', pod, {
      command: ['echo', 'a b'],
      ...options,
    });

  it('has input, output, a terminal size and an exit code', async () => {
    const output: string[] = [];
    const onOutput = (data: Uint8Array, stream: string): void => {
      output.push(`${stream} ${new TextDecoder().decode(data)}`);
    };
    const shell = await open('a?>token', 'cart', { onOutput, container: 'main' });
    shell.resize(80, 25);
    shell.write('hello ä');
    shell.write(Uint8Array.of(33));
    shell.closeInput();
    expect(await shell.ended).to.deep.equal({ exitCode: 3, status: EXIT_3 });
    expect(output).to.deep.equal(['stdout hello ä', 'stdout !', 'stderr oh']);
    expect(server.messages.slice(0, 3)).to.deep.equal(['4 {"Width":80,"Height":25}', '0 hello ä', '0 !']);
    expect(server.handshakes).to.deep.equal([
      [
        '/prefix/api/v1/namespaces/shop/pods/cart/exec?container=main&tty=false&stdin=true&stdout=true&stderr=true&command=echo&command=a+b',
        'v5.channel.k8s.io',
        'base64url.bearer.authorization.k8s.io.YT8-dG9rZW4',
      ],
    ]);
  });

  it('throws the error of the server, which a WebSocket hides', async () => {
    expect(await rejection(open('a?>token', 'none'))).to.include({ code: 404, message: 'refused with 404' });
    expect(await rejection(open('expired'))).to.include({ code: 401 });
  });

  it('says what to do without a WebSocket, as in Node 20', async () => {
    const { WebSocket } = globalThis;
    Reflect.deleteProperty(globalThis, 'WebSocket');
    try {
      expect(await rejection(open('a?>token'))).to.match(/pass the option WebSocket to Client/);
    } finally {
      Object.assign(globalThis, { WebSocket });
    }
  });

  it('is opened with another token when the server rejects the first one', async () => {
    let token = 'old';
    const source = {
      token: async ({ rejected }: { rejected?: string } = {}) => {
        if (rejected === token) token = 'a?>token';
        return token;
      },
    };
    const shell = await open({ token: source.token });
    shell.close();
    expect(await shell.ended).to.deep.equal({ exitCode: undefined, status: undefined });
    expect(server.handshakes).to.have.length(2);
  });

  it('ends without an exit code after a status that a hostile node has written', async () => {
    for (const status of [
      '{',
      'null',
      '7',
      '{"details":null}',
      '{"details":{"causes":"ExitCode"}}',
      '{"details":{"causes":[null,{"reason":"ExitCode","message":null}]}}',
    ]) {
      server.last = ['5000000000', Buffer.of(), Buffer.from(`\u0003${status}`)];
      const shell = await open('a?>token');
      shell.closeInput();
      expect(await shell.ended, status).to.have.property('exitCode', undefined);
    }
  });

  it('ends without a status when the connection is lost, or the caller aborts', async () => {
    const lost = { exitCode: undefined, status: undefined };
    const first = await open('a?>token');
    server.lose();
    expect(await first.ended).to.deep.equal(lost);
    const abort = new AbortController();
    const second = await open('a?>token', 'cart', { signal: abort.signal });
    abort.abort();
    expect(await second.ended).to.deep.equal(lost);
    const reason = new Error('enough');
    expect(await rejection(open('a?>token', 'cart', { signal: AbortSignal.abort(reason) }))).to.equal(reason);
  });
});
