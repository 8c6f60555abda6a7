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

describe('DirectoryClient', () => {
  it('closes the connection after too many entries, which take more memory than bytes', async () => {
    const error = await searchWith((id) => {
      const entry = Buffer.from([0x30, 9, 2, 1, id, 0x64, 4, 4, 0, 0x30, 0]);
      return Buffer.concat(Array.from({ length: 150_000 }, () => entry));
    });
    expect(error.message).to.match(/^Connection closed before message response was received/);
  });

  it('closes the connection after bytes that are not LDAP', async () => {
    for (const bytes of ['HTTP/1.1 400 Bad Request\r\n', '0\u0080\u0000', '0\u0085\u0000']) {
      const error = await searchWith(() => Buffer.from(bytes, 'latin1'));
      expect(error.message, bytes).to.match(/^Connection closed before message response was received/);
    }
  });
});
