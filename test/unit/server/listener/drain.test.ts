// Tests of the graceful stop of the listeners.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { type Logger, pino } from 'pino';
import { drain } from '../../../../server/listener/drain.ts';
import type { Listener } from '../../../../server/listener/listener.ts';
import { until } from '../../../support/until.ts';
import { listenInsecure, open, readAll, silent, stop, stopListenersEach } from './listening.ts';

const GET = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';

describe('drain', () => {
  let listener: Listener;
  let waiting: ServerResponse[];
  let arrived: PromiseWithResolvers<void>;
  let receive: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    waiting = [];
    arrived = Promise.withResolvers();
    receive = (_request, response) => {
      waiting.push(response);
      arrived.resolve();
    };
    listener = await listenInsecure({
      receiver: { request: (request, response) => receive(request, response) },
    });
  });

  stopListenersEach();

  function draining(settings: {
    steps?: string[];
    readinessDelay?: number;
    timeout?: number;
    end?: () => void;
    log?: Logger;
  }) {
    const { steps = [], readinessDelay = 0, timeout = 30_000, end, log = silent } = settings;
    const step = <Result>(name: string, act: () => Result) => {
      return (): Result => {
        steps.push(name);
        return act();
      };
    };
    return drain({
      listeners: [
        {
          endKeepAlive: step('end keep-alive', () => listener.endKeepAlive()),
          stopAccepting: step('stop accepting', () => listener.stopAccepting()),
          get closed() {
            return listener.closed;
          },
          destroyConnections: step('cut', () => listener.destroyConnections()),
        },
      ],
      failReadiness: () => steps.push('not ready'),
      endStreams: () => {
        steps.push('end streams');
        end?.();
        return 3;
      },
      readinessDelay,
      timeout,
      log,
    });
  }

  it('fails readiness, then ends keep-alive, then stops accepting and closes idle connections, then ends streams', async () => {
    const steps: string[] = [];
    const { port } = listener.address;
    const lines: string[] = [];
    const neverUsed = readAll(await open(listener));
    const log = pino({}, { write: (line: string) => lines.push(line) });
    expect(await draining({ steps, log })).to.equal(0);
    await neverUsed;
    expect(lines.filter((line) => line.includes('"streams":3,'))).to.have.length(1);
    const error = await once(connect(port, '127.0.0.1'), 'connect').catch((failure: unknown) => failure);
    expect(error).to.have.property('code', 'ECONNREFUSED');
    expect(steps).to.deep.equal(['not ready', 'end keep-alive', 'stop accepting', 'end streams']);
  });

  it('does not reset an idle connection on which a request is arriving', async () => {
    const socket = await open(listener);
    await until(() => listener.connections === 1);
    socket.write(GET);
    // Nothing has read the request yet.
    listener.stopAccepting();
    // Rejects on ECONNRESET.
    await once(socket.resume(), 'close');
    await listener.closed;
  });

  it('closes a connection after a response whose headers promised keep-alive', async () => {
    const socket = await open(listener);
    socket.write(GET);
    await arrived.promise;
    waiting[0]?.writeHead(200, { 'Content-Length': 8 });
    waiting[0]?.flushHeaders();
    await once(socket, 'data');
    const rest = readAll(socket);
    const done = draining({ end: () => waiting[0]?.end('finished') });
    expect(await rest).to.equal('finished');
    expect(await done).to.equal(0);
  });

  it('ignores a request that arrives with the end of a response whose headers promised keep-alive', async () => {
    const client = await open(listener);
    client.write(GET);
    await arrived.promise;
    const [response] = waiting;
    response?.flushHeaders();
    const socket = response?.socket;
    const end = (): void => {
      response?.end('last');
      // The next request is read before the end of the response is written.
      socket?.emit('data', Buffer.from(GET));
    };
    const [text] = await Promise.all([readAll(client), draining({ end })]);
    expect(text.endsWith('4\r\nlast\r\n0\r\n\r\n')).to.equal(true);
    expect(waiting).to.have.length(1);
  });

  it('does not wait for a client to close its side of a stream that has ended', async () => {
    receive = (_request, response) => {
      response.flushHeaders();
      waiting.push(response);
      arrived.resolve();
    };
    const socket = connect({ host: '127.0.0.1', port: listener.address.port, allowHalfOpen: true });
    socket.on('error', () => undefined).resume();
    socket.write(GET);
    await arrived.promise;
    expect(await draining({ end: () => waiting[0]?.end('the end') })).to.equal(0);
    socket.destroy();
  });

  it('destroys connections, also upgraded ones, at the timeout', async () => {
    const steps: string[] = [];
    await stop(listener);
    listener = await listenInsecure({
      receiver: {
        request: (request, response) => receive(request, response),
        upgrade: (_request, socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
      },
    });
    const [upgraded, socket] = [await open(listener), await open(listener)];
    upgraded.write('GET /kapis HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await once(upgraded, 'data');
    socket.write(GET);
    await arrived.promise;
    const rest = Promise.all([readAll(socket), readAll(upgraded)]);
    expect(await draining({ steps, timeout: 50 })).to.equal(2);
    expect(await rest).to.deep.equal(['', '']);
    expect(steps.at(-1)).to.equal('cut');
  });
});
