import { expect } from 'chai';
import { until } from '../../../support/until.ts';
import { type ChainFixture, rawConnection, readAll, startChain } from './chain-fixture.ts';

describe('the Host of a request', () => {
  let chain: ChainFixture;

  before(async () => {
    chain = await startChain({ handler: ({ response }) => void response.end('ok') });
  });

  after(async () => {
    await chain.stop();
  });

  async function send(version: string, hosts: readonly string[]): Promise<string> {
    const socket = await rawConnection(chain);
    const headers = [...hosts, 'Connection: close'].map((header) => `${header}\r\n`).join('');
    socket.write(`GET /livez HTTP/${version}\r\n${headers}\r\n`);
    return readAll(socket);
  }

  for (const [what, hosts] of [
    ['missing', []],
    ['there twice', ['Host: a', 'hOST: b']],
  ] as const) {
    it(`is refused with a Status and a log line when it is ${what}`, async () => {
      const before = chain.lines.length;
      const answer = await send('1.1', hosts);
      expect(answer).to.match(/^HTTP\/1.1 400 /);
      expect(answer).to.contain('"reason":"BadRequest"');
      await until(() => chain.lines.length > before);
      expect(chain.lines.at(-1)).to.include({ status: 400 });
    });
  }

  it('may be missing in HTTP/1.0', async () => {
    expect(await send('1.0', [])).to.match(/^HTTP\/1.1 200 /);
  });
});
