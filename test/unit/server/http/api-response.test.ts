// Tests of HTTP responses with default headers.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ApiResponse, setDefaultHeaders } from '../../../../server/http/api-response.ts';

const DEFAULTS = ['Audit-Id', 'id', 'Cache-Control', 'private'];

/** Returns the raw headers of a response that `write` writes, except those of Node. */
async function headersOf(write: (response: ApiResponse) => void): Promise<readonly string[]> {
  await using server = createServer({ ServerResponse: ApiResponse }, (_request, response) => {
    setDefaultHeaders(response, DEFAULTS);
    write(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sent = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  sent.on('error', reject);
  sent.on('response', (message) => {
    const { rawHeaders } = message.resume();
    message.on('end', () =>
      resolve(rawHeaders.flatMap((name, i) => (i % 2 ? [] : [`${name}: ${rawHeaders[i + 1]}`]))),
    );
  });
  sent.end();
  const own = /^(?:date|connection|keep-alive|transfer-encoding|content-length):/i;
  return (await promise).filter((line) => !own.test(line));
}

describe('ApiResponse', () => {
  const both = ['Audit-Id: id', 'Cache-Control: private'];

  it('adds the default headers', async () => {
    for (const [write, ...more] of [
      [(response: ApiResponse) => response.end()],
      [(response: ApiResponse) => response.writeHead(200).end()],
      [(response: ApiResponse) => response.writeHead(200, { A: 'b' }).end(), 'A: b'],
      [(response: ApiResponse) => response.writeHead(200, 'OK', { A: 'b' }).end(), 'A: b'],
      [(response: ApiResponse) => response.writeHead(200, ['A', 'b', 'A', 'c']).end(), 'A: b', 'A: c'],
      [
        (response: ApiResponse) => response.setHeader('A', 'b').writeHead(200, { C: 'd' }).end(),
        'A: b',
        'C: d',
      ],
    ] as const) {
      expect(await headersOf((response) => void write(response))).to.have.members([...both, ...more]);
    }
  });

  it('sends the header of the handler instead of a default, in any case', async () => {
    for (const name of ['Cache-Control', 'cache-control']) {
      const expected = ['Audit-Id: id', `${name}: no-store`];
      expect(
        await headersOf((response) => void response.writeHead(200, { [name]: 'no-store' }).end()),
      ).to.have.members(expected);
      const set = await headersOf((response) => void response.setHeader(name, 'no-store').end());
      expect(set).to.have.members(expected);
    }
  });
});
