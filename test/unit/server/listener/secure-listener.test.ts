// Tests of the TLS listener.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { IssuedCertificate } from '../../../../server/listener/certificates/issued-certificate.ts';
import type { Listener } from '../../../../server/listener/listener.ts';
import type { SecureListener } from '../../../../server/listener/secure-listener.ts';
import { issue, newCA } from '../../../support/certificates.ts';
import { exchange } from '../../../support/exchange.ts';
import { rejection } from '../../../support/rejection.ts';
import { until } from '../../../support/until.ts';
import {
  issuedInMemory,
  type Listening,
  listenSecure,
  open,
  readAll,
  stopListenersEach,
} from './listening.ts';

async function handshake(listener: Listener, settings: ConnectionOptions): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port: listener.address.port, ...settings });
  await once(socket, 'secureConnect');
  return socket;
}

/** Returns the first bytes of a TLS client. */
async function clientHello(ca: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ host: '127.0.0.1', port, ca }).on('error', () => undefined);
  const [peer] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(peer, 'data')) as [Buffer];
  client.destroy();
  server.close();
  return hello;
}

describe('SecureListener', () => {
  let life: AbortController;
  let certificates: IssuedCertificate;
  let ca: string;
  const listening = (settings?: Listening): Promise<SecureListener> => listenSecure(certificates, settings);

  beforeEach(async () => {
    life = new AbortController();
    certificates = await issuedInMemory(life.signal);
    ({ ca } = certificates.current());
  });

  stopListenersEach();
  afterEach(() => life.abort());

  it('accepts TLS 1.2 unless configured otherwise, and never TLS 1.1', async () => {
    const listener = await listening();
    const socket = await handshake(listener, { ca, maxVersion: 'TLSv1.2' });
    expect(socket.getProtocol()).to.equal('TLSv1.2');
    socket.destroy();
    const refused = async (settings: ConnectionOptions, { address }: Listener): Promise<unknown> => {
      const client = connectTls({ host: '127.0.0.1', port: address.port, ca, ...settings });
      const [error] = await once(client, 'error').catch((failure: unknown) => [failure]);
      return error;
    };
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect(await refused(old, listener))
      .to.have.property('code')
      .that.matches(/VERSION|PROTOCOL/);
    const strict = await listening({ minVersion: 'TLSv1.3' });
    expect(await refused({ maxVersion: 'TLSv1.2' }, strict)).to.be.instanceOf(Error);
  });

  it('requests a client certificate of the current client CAs without a restart, and accepts one of an unknown CA', async () => {
    const seen: unknown[] = [];
    const listener = await listening({
      receiver: {
        request: ({ socket }, response) => {
          if (!(socket instanceof TLSSocket)) throw new Error('not TLS');
          seen.push([socket.getPeerX509Certificate()?.subject, socket.authorized]);
          response.end('ok');
        },
      },
    });
    const authority = await newCA('clients');
    const { cert, key } = await issue(authority, { cn: 'someone' });
    const invalid = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
    for (const cas of [[], [authority.cert], [invalid, 'nothing']]) {
      listener.setClientCAs(cas);
      expect((await exchange(listener.address.port, { ca, cert, key })).body).to.equal('ok');
    }
    expect(seen).to.deep.equal([false, true, false].map((isTrusted) => ['CN=someone', isTrusted]));
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`never resumes a session of ${version}`, async () => {
      const listener = await listening();
      const first = await handshake(listener, { ca, minVersion: version, maxVersion: version });
      let session = first.getSession();
      first.on('session', (newer) => {
        session = newer;
      });
      first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(first, 'data');
      first.destroy();
      const second = await handshake(listener, {
        ca,
        minVersion: version,
        maxVersion: version,
        ...(session ? { session } : {}),
      });
      expect(second.isSessionReused()).to.equal(false);
      second.destroy();
    });
  }

  it('returns a 400 that names https for plain HTTP', async () => {
    const listener = await listening();
    const [other, socket] = [await open(listener), await open(listener)];
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [head = '', body = ''] = (await readAll(socket)).split('\r\n\r\n');
    expect(head).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(body)).to.deep.include({
      kind: 'Status',
      code: 400,
      message: 'this port accepts HTTPS only: use an https:// URL',
    });
    expect(other.destroyed).to.equal(false);
    other.destroy();
  });

  it('closes a connection whose handshake does not finish', async () => {
    const listener = await listening({ limits: { handshakeTimeout: 100 } });
    const socket = await open(listener);
    expect(await readAll(socket)).to.equal('');
  });

  it('handshakes with the networks in turn', async () => {
    const listener = await listening();
    const hello = await clientHello(ca);
    const opened = async (localAddress: string): Promise<Socket> => {
      const socket = connect({ host: '127.0.0.1', port: listener.address.port, localAddress });
      await once(socket, 'connect');
      return socket;
    };
    const flood = await Promise.all(Array.from({ length: 64 }, () => opened('127.0.2.1')));
    const newcomer = await opened('127.0.3.1');
    await until(() => listener.connections === flood.length + 1);
    let answered = 0;
    for (const socket of flood) {
      socket.once('data', () => answered++);
      socket.write(hello);
    }
    newcomer.write(hello);
    await once(newcomer, 'data');
    expect(answered).to.be.below(32);
    for (const socket of [...flood, newcomer]) socket.destroy();
  });

  it('closes a connection whose client closes it before the handshake', async () => {
    const listener = await listening();
    const socket = await open(listener);
    socket.end();
    expect(await readAll(socket)).to.equal('');
  });

  it('reports the port in use and what to change', async () => {
    const { port } = (await listening()).address;
    const error = await rejection(listening({ port }));
    expect(error).to.have.property('code', 'EADDRINUSE');
    expect(error)
      .to.have.property('message')
      .that.contains(`127.0.0.1:${port}`)
      .and.contains('--secure-port');
  });
});
