// Tests of the client of a directory against servers whose responses take memory or are not LDAP.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { PresenceFilter } from 'ldapts';
import { DirectoryClient } from '../../../../../../server/oauth/providers/ldap/directory-client.ts';
import { connectDirectory } from '../../../../../../server/oauth/providers/ldap/directory-connection.ts';
import { issueServer, newCA } from '../../../../../support/certificates.ts';
import { rejection } from '../../../../../support/rejection.ts';

const { signal } = new AbortController();

/** Searches in a directory that sends `response` to the request with the given id. Returns the error. */
async function searchWith(response: (id: number) => Buffer): Promise<Error> {
  const ca = await newCA('directory');
  const sockets: TLSSocket[] = [];
  await using server = createServer({ ...(await issueServer(ca)) }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    // The id follows the header of the message, and its own.
    socket.once('data', (request: Buffer) =>
      socket.write(response(request[request.indexOf('\u0002\u0001') + 2] ?? 0)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const options = { tls: 'ldaps', ca: ca.cert, timeoutMs: 5_000, signal } as const;
  using client = new DirectoryClient(await connectDirectory({ host: '127.0.0.1', port }, options), signal);
  const search = { base: 'dc=example', scope: 'sub', attributes: ['cn'], limit: 10 } as const;
  const error = await rejection(
    client.search({ ...search, filter: new PresenceFilter({ attribute: 'cn' }) }),
  );
  for (const socket of sockets) socket.destroy();
  return error;
}

/** An element, also one whose length differs from that of its content. */
function element(tag: number, content: readonly Buffer[] | string, length?: number): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.concat(content);
  const head = Buffer.from([tag, 0x84, 0, 0, 0, 0]);
  head.writeUInt32BE(length ?? bytes.length, 2);
  return Buffer.concat([head, bytes]);
}

function message(id: number, ...parts: readonly Buffer[]): Buffer {
  return element(0x30, [Buffer.from([2, 1, id]), ...parts]);
}

function entry(id: number, attributes: readonly Buffer[]): Buffer {
  return message(id, element(0x64, [element(4, 'cn=a'), element(0x30, attributes)]));
}

const CLOSED = /^Connection closed before message response was received/;

describe('DirectoryClient', () => {
  it('closes the connection after elements that are truncated, go back, or have another tag, instead of reading them without end', async () => {
    const type = element(4, 'cn');
    const attribute = element(0x30, [type, element(0x31, [element(4, 'a')])]);
    const malformed: Readonly<Record<string, (id: number) => Buffer>> = {
      attributes: (id) => message(id, element(0x64, [element(4, 'cn=a'), element(0x30, [attribute], 1_000)])),
      values: (id) => entry(id, [element(0x30, [type, element(0x31, [element(4, 'a')], 1_000)])]),
      value: (id) => entry(id, [element(0x30, [type, element(0x31, [element(4, 'a', 0xfffffffa)])])]),
      'attributes in a text': (id) => message(id, element(0x64, [element(4, 'cn=a'), element(4, '0\u0001')])),
      reference: (id) => message(id, element(0x73, [Buffer.from([4])])),
      bind: (id) => message(id, element(0x61, [Buffer.from([10, 1, 0, 4, 0, 4, 0, 4, 9])])),
      controls: (id) => message(id, element(0x65, [Buffer.from([10, 1, 0, 4, 0, 4, 0])]), element(0xa0, '0')),
      'controls in a result': (id) =>
        message(id, element(0x65, [Buffer.from([10, 1, 0, 4, 0, 4, 0]), element(0xa0, '', 1_000)])),
    };
    for (const [name, response] of Object.entries(malformed)) {
      expect((await searchWith(response)).message, name).to.match(CLOSED);
    }
  });

  it('closes the connection after an entry with too many values, of two bytes each', async () => {
    const values = element(0x31, [Buffer.alloc(200_000, Buffer.from([4, 0]))]);
    const error = await searchWith((id) => entry(id, [element(0x30, [element(4, 'cn'), values])]));
    expect(error.message).to.match(CLOSED);
  });

  it('closes the connection after too many entries, which take more memory than bytes', async () => {
    const error = await searchWith((id) => {
      const empty = Buffer.from([0x30, 9, 2, 1, id, 0x64, 4, 4, 0, 0x30, 0]);
      return Buffer.concat(Array.from({ length: 150_000 }, () => empty));
    });
    expect(error.message).to.match(CLOSED);
  });

  it('closes the connection after bytes that are not LDAP', async () => {
    for (const bytes of ['HTTP/1.1 400 Bad Request\r\n', '0\u0080\u0000', '0\u0085\u0000']) {
      const error = await searchWith(() => Buffer.from(bytes, 'latin1'));
      expect(error.message, bytes).to.match(CLOSED);
    }
  });
});
