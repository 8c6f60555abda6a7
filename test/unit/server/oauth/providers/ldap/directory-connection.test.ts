// Tests StartTLS against servers, and networks, that do not keep to the protocol.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import {
  connectDirectory,
  parseAddress,
} from '../../../../../../server/oauth/providers/ldap/directory-connection.ts';
import { rejection } from '../../../../../support/rejection.ts';

const SUCCESS = Buffer.from('300c02010178070a010004000400', 'hex');
const REFUSED = Buffer.from('300c02010178070a013504000400', 'hex');
const OTHER_MESSAGE = Buffer.from('300c02010261070a010004000400', 'hex');

/** Connects with StartTLS to a server that sends `response`. Returns the error, and everything that the server received. */
async function startTLSWith(response: Buffer, timeoutMs = 5_000) {
  const received: Buffer[] = [];
  const sockets: Socket[] = [];
  await using server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(response));
    socket.on('data', (chunk: Buffer) => received.push(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const options = {
    tls: 'startTLS',
    ca: undefined,
    timeoutMs,
    signal: new AbortController().signal,
  } as const;
  const error = await rejection(connectDirectory({ host: 'localhost', port }, options));
  for (const socket of sockets) socket.destroy();
  return { error, received: Buffer.concat(received) };
}

describe('connectDirectory', () => {
  it('sends nothing but the request without a successful response', async () => {
    for (const [response, reason] of [
      [REFUSED, 'refuses StartTLS (result code 53)'],
      [OTHER_MESSAGE, 'refuses StartTLS'],
      [Buffer.from('HTTP/1.1 400 Bad Request\r\n'), 'not LDAP'],
      [Buffer.from('3084ffffffff', 'hex').subarray(0, 6), 'no connection within 300 ms'],
      [Buffer.alloc(5000, 0x30), 'too long'],
    ] as const) {
      const { error, received } = await startTLSWith(response, reason.startsWith('no') ? 300 : 5_000);
      expect(error.message, reason).to.contain(reason);
      expect(received.length, reason).to.equal(31);
    }
  });

  it('rejects bytes that an attacker adds to the response, before TLS', async () => {
    const bindResponse = Buffer.from('300c02010361070a010004000400', 'hex');
    for (const added of [bindResponse, bindResponse.subarray(0, 3)]) {
      const { error, received } = await startTLSWith(Buffer.concat([SUCCESS, added]));
      expect(error.message).to.equal('the server sent data between StartTLS and TLS');
      expect(received.length).to.equal(31);
    }
  });
});

describe('parseAddress', () => {
  it('has the port of the protocol by default', () => {
    expect(parseAddress('ldap.example.com', 'ldaps')).to.deep.equal({ host: 'ldap.example.com', port: 636 });
    expect(parseAddress('ldap.example.com', 'startTLS')).to.deep.equal({
      host: 'ldap.example.com',
      port: 389,
    });
    expect(parseAddress('[2001:db8::1]:3269', 'ldaps')).to.deep.equal({ host: '2001:db8::1', port: 3269 });
  });
});
