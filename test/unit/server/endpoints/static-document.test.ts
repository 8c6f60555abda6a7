import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { staticBytes, writeDocument } from '../../../../server/endpoints/static-document.ts';
import { Exchange } from '../../../../server/filters/exchange.ts';
import { silent } from '../listener/listening.ts';

// More than the kernel takes in for a connection whose other side does not read.
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'abcdefghijklmnop');

describe('a document', () => {
  let server: Server;
  let written: PromiseWithResolvers<ServerResponse>;

  beforeEach(async () => {
    written = Promise.withResolvers();
    server = createServer((request, response) => {
      const arrival = { request, response, secure: false, upgrade: undefined };
      void writeDocument(new Exchange(arrival, silent, 0, 0), staticBytes(LARGE), {});
      written.resolve(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('waits in memory for a slow reader only a piece at a time, and reaches him in full', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const response = await written.promise;
    expect(response.writableLength).to.be.lessThan(256 * 1024);
    const pieces: Buffer[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    socket.resume();
    await once(socket, 'end');
    const received = Buffer.concat(pieces);
    expect(received.subarray(-LARGE.length).equals(LARGE)).to.equal(true);
    expect(response.writableFinished).to.equal(true);
  });
});
