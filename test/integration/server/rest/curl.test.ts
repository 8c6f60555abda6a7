// Tests of compressed lists with curl and fetch. A compressed body must have a single gzip member, because curl stops
// after the first.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { array, record } from '../../../../apis/reading/unknown-value.ts';
import { resourceHandler } from '../../../../server/rest/resource-handler.ts';
import { NodeCache, node, nodes } from '../../../support/cluster/node-cache.ts';
import { servedHandler } from '../../../support/handler-server.ts';

const run = promisify(execFile);

describe('a compressed list', () => {
  const cache = new NodeCache();
  const server = servedHandler(resourceHandler(nodes, cache.cache));

  before(() => {
    const filler = 'x'.repeat(4000);
    const many = Array.from({ length: 1000 }, (_, i) => node(`n${i}`, i + 1, {}, { filler }));
    cache.fill(9000, many);
  });

  async function curl(...args: string[]): Promise<string> {
    const url = `http://127.0.0.1:${server.port}/apis/resources.platform.io/v1alpha3/nodes`;
    const { stdout } = await run('curl', ['--silent', '--show-error', '--fail', ...args, url], {
      maxBuffer: 64 << 20,
    });
    return stdout;
  }

  it('is complete for curl --compressed, also after changes', async () => {
    expect(array(record(JSON.parse(await curl('--compressed')))['items'])).to.have.length(1000);
    cache.apply('MODIFIED', node('n500', 9001, { changed: 'yes' }));
    const packed = await curl('--compressed');
    expect(packed).to.equal(await curl());
    expect(packed).to.contain('"changed":"yes"');
  });
});
