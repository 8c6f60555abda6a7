// Tests of the filters that check requests before authentication.
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { until } from '../../../support/until.ts';
import { type ChainFixture, rawConnection, startChain } from './chain-fixture.ts';

describe('request checks', () => {
  let chain: ChainFixture;

  before(async () => {
    chain = await startChain({ handler: ({ response }) => void response.end('ok') });
  });

  after(async () => {
    await chain.stop();
  });

  async function send(version: string, headers: readonly string[]): Promise<string> {
    const socket = await rawConnection(chain);
    const lines = [...headers, 'Connection: close'].map((header) => `${header}\r\n`).join('');
    socket.write(`GET /livez HTTP/${version}\r\n${lines}\r\n`);
    return text(socket);
  }

  for (const [what, headers] of [
    ['no Host', []],
    ['more than one Host', ['Host: a', 'hOST: b']],
    ['more than one Authorization', ['Host: a', 'Authorization: Bearer x', 'authorization: Bearer x']],
  ] as const) {
    it(`returns 400 and logs a request with ${what} header`, async () => {
      const before = chain.lines.length;
      const answer = await send('1.1', headers);
      expect(answer).to.match(/^HTTP\/1.1 400 /);
      expect(answer).to.contain('"reason":"BadRequest"').and.to.contain(`the request has ${what} header`);
      await until(() => chain.lines.length > before);
      expect(chain.lines.at(-1)).to.include({ status: 400 });
    });
  }

  it('accepts HTTP/1.0 without a Host header', async () => {
    expect(await send('1.0', [])).to.match(/^HTTP\/1.1 200 /);
  });
});
