// Tests of lists of nodes under `/kapis` against the aggregated API, with a real control plane.
import { expect } from 'chai';
import { array, record, text } from '../../../../../apis/reading/unknown-value.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';
import { platformNodes } from '../../../../support/platform/platform-lists.ts';
import { NODE_COUNT, OURS, type ServedNodes } from '../rest/served-nodes.ts';

const PLATFORM = '/kapis/resources.platform.io/v1alpha3/nodes';

/** Items by name, without `selfLink`, which is checked first. */
function byName(items: unknown, link?: string): ReadonlyMap<string, unknown> {
  return new Map(
    array(items).map((item) => {
      const { selfLink, ...metadata } = record(record(item)['metadata']);
      const name = text(metadata['name']);
      expect(selfLink).to.equal(link === undefined ? undefined : `${link}/${name}`);
      return [name, { ...record(item), metadata }];
    }),
  );
}

export function describePlatformPaths(subject: () => ServedNodes): void {
  describe('the platform paths beside the aggregated path', () => {
    let served: ServedNodes;
    let platform: HandlerServer;

    before(async () => {
      served = subject();
      const { cache } = served.informer;
      platform = await new HandlerServer(platformNodes({ cache })).start();
    });

    after(() => platform?.close());

    it('return equal nodes in list and get, except for selfLink', async () => {
      const aggregated = record((await served.askUs(OURS)).body);
      const listed = await platform.json(PLATFORM);
      const expected = byName(aggregated['items']);
      expect(byName(listed['items'], PLATFORM)).to.deep.equal(expected);
      expect(listed['metadata']).to.deep.equal(aggregated['metadata']);
      expect(expected.size).to.equal(NODE_COUNT);
      for (const name of expected.keys()) {
        expect(byName([await platform.json(`${PLATFORM}/${name}`)], PLATFORM).get(name)).to.deep.equal(
          record((await served.askUs(`${OURS}/${name}`)).body),
        );
      }
    });

    it('select the same nodes', async () => {
      for (const [name, selector] of [
        ['labelSelector', 'topology.kubernetes.io/zone in (region-1a),!x'],
        ['labelSelector', 'node-role.kubernetes.io/control-plane'],
        ['fieldSelector', 'metadata.name=node-00003'],
        ['fieldSelector', 'spec.unschedulable=true'],
      ] as const) {
        const query = `${name}=${encodeURIComponent(selector)}`;
        const theirs = byName(record((await served.askUs(`${OURS}?${query}`)).body)['items']);
        const list = await platform.json(`${PLATFORM}?${query}`);
        expect(byName(list['items'], PLATFORM), selector).to.deep.equal(theirs);
        expect(list['totalItems'], selector).to.equal(theirs.size).and.be.above(0);
      }
    });

    it('show changes of the cluster at the same time', async () => {
      await served.patch('node-00007', {
        metadata: { labels: { moved: 'yes' } },
        spec: { unschedulable: true },
      });
      await served.delete('node-00008');
      await served.caughtUp();
      const moved = await platform.json(`${PLATFORM}?labelSelector=moved&status=unschedulable`);
      expect([...byName(moved['items'], PLATFORM).keys()]).to.deep.equal(['node-00007']);
      expect((await platform.json(PLATFORM))['totalItems']).to.equal(NODE_COUNT - 1);
      expect((await platform.ask(`${PLATFORM}/node-00008`)).status).to.equal(404);
    });
  });
}
