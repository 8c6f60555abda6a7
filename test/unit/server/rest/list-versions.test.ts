// Tests of get and list with the parameter resourceVersion.
import { expect } from 'chai';
import { array, record } from '../../../../apis/reading/unknown-value.ts';
import { DEFAULT_OPTIONS, resourceHandler } from '../../../../server/rest/resource-handler.ts';
import { NodeCache, node, nodes } from '../../../support/cluster/node-cache.ts';
import { HandlerServer } from '../../../support/handler-server.ts';

const LIST = '/apis/resources.platform.io/v1alpha3/nodes';

/** The resourceVersion of a list or an object, then `name@resourceVersion` of each object of the list. */
function versionAndItems(list: Readonly<Record<string, unknown>>): string {
  const versions = array(list['items'] ?? []).map((item) => {
    const { name, resourceVersion } = record(record(item)['metadata']);
    return `${String(name)}@${String(resourceVersion)}`;
  });
  return [String(record(list['metadata'])['resourceVersion']), ...versions].join(' ');
}

describe('the resourceVersion of a read', () => {
  let cache: NodeCache;
  let server: HandlerServer;

  beforeEach(async () => {
    cache = new NodeCache();
    cache.fill(10, [node('a', 1), node('b', 2), node('c', 3)]);
    cache.apply('MODIFIED', node('a', 11));
    cache.apply('DELETED', node('c', 12));
    server = await new HandlerServer(resourceHandler(nodes, cache.cache)).start();
  });

  afterEach(() => server.close());

  it('is the current one for reads without it, if the handler can wait until the cache is current', async () => {
    let change = 13;
    const current = async (): Promise<void> => cache.apply('MODIFIED', node('a', change++));
    await using own = await new HandlerServer(
      resourceHandler(nodes, cache.cache, { ...DEFAULT_OPTIONS, current }),
    ).start();
    expect(versionAndItems(await own.json(LIST))).to.equal('13 a@13 b@2');
    expect(versionAndItems(await own.json(`${LIST}/a`))).to.equal('14');
    expect(versionAndItems(await own.json(`${LIST}?limit=1`))).to.equal('15 a@15');
    for (const query of ['resourceVersion=0', 'resourceVersion=15']) {
      expect(versionAndItems(await own.json(`${LIST}?${query}`))).to.equal('15 a@15 b@2');
    }
  });

  it('returns 410 without a token for an exact version that has expired', async () => {
    const named = (name: string) => `resourceVersion=9&limit=1&fieldSelector=metadata.name%3D${name}`;
    expect(await server.json(`${LIST}?${named('a')}`)).not.to.have.property('code');
    for (const query of [
      'resourceVersion=9&resourceVersionMatch=Exact',
      'resourceVersion=9&limit=1',
      // kube-apiserver reads one object only for a valid name.
      ...['', '..', 'a%2Fb', '%2Cmetadata.name%3Da'].map(named),
    ]) {
      const answer = await server.json(`${LIST}?${query}`);
      expect(answer).to.include({ code: 410, reason: 'Expired' });
      expect(answer['message']).to.equal('The resourceVersion for the provided list is too old.');
      expect(record(answer['metadata'])).to.not.have.property('continue');
    }
  });

  it('stays the same on all pages, and is rejected together with a token', async () => {
    const first = await server.json(`${LIST}?limit=1&resourceVersion=10`);
    const token = String(record(first['metadata'])['continue']);
    expect(versionAndItems(await server.json(`${LIST}?continue=${token}`))).to.equal('10 b@2 c@3');
    expect(
      versionAndItems(await server.json(`${LIST}?continue=${token}&resourceVersion=0&limit=1`)),
    ).to.equal('10 b@2');
    expect(await server.json(`${LIST}?continue=${token}&resourceVersion=10`)).to.include({
      code: 400,
      message: 'specifying resource version is not allowed when using continue',
    });
  });

  describe('that the cache has not reached', () => {
    let waiting: Promise<void>;

    beforeEach(() => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waitUntil = cache.cache.waitUntil.bind(cache.cache);
      cache.cache.waitUntil = (...args) => {
        const waited = waitUntil(...args);
        resolve();
        return waited;
      };
      waiting = promise;
    });

    for (const [what, path, expected] of [
      ['a list', '?resourceVersion=13', '13 a@11 b@13'],
      ['a list of exactly that one', '?resourceVersion=13&resourceVersionMatch=Exact', '13 a@11 b@13'],
      ['a get', '/b?resourceVersion=13', '13'],
    ] as const) {
      it(`makes ${what} wait`, async () => {
        const answer = server.json(LIST + path);
        await Promise.race([waiting, answer]);
        cache.apply('MODIFIED', node('b', 13));
        expect(versionAndItems(await answer)).to.equal(expected);
      });

      it(`ends ${what} with 504 at the timeout`, async () => {
        expect(await server.json(LIST + path)).to.include({ code: 504, reason: 'Timeout' });
      });
    }

    it('makes a page of another replica wait', async () => {
      const ahead = new NodeCache();
      ahead.fill(12, [node('a', 11), node('b', 2)]);
      ahead.apply('MODIFIED', node('b', 13));
      await using other = await new HandlerServer(resourceHandler(nodes, ahead.cache)).start();
      const token = String(record((await other.json(`${LIST}?limit=1`))['metadata'])['continue']);
      const rest = server.json(`${LIST}?continue=${token}`);
      await Promise.race([waiting, rest]);
      cache.apply('MODIFIED', node('b', 13));
      expect(versionAndItems(await rest)).to.equal('13 b@13');
    });
  });
});
