import { once } from 'node:events';
import { expect } from 'chai';
import pino from 'pino';
import { followObject } from '../../../../../server/cluster/following/followed-object.ts';
import { bookmark, event, ScriptedCluster, send } from '../../../../support/cluster/scripted-cluster.ts';

const named = (name: string, resourceVersion: number, namespace?: string): string => {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  return JSON.stringify({ metadata: { ...metadata, resourceVersion: String(resourceVersion) } });
};

describe('an object that is followed by its name', () => {
  for (const namespace of [undefined, 'ns']) {
    it(`is told at each change, and that it is gone, ${namespace ? 'in its namespace' : 'without one'}`, async () => {
      const cluster = await ScriptedCluster.start(({ response }) => {
        send(response, event('ADDED', named('other', 1, namespace)), bookmark(1, true));
        send(response, event('ADDED', named('one', 2, namespace)));
        send(response, event('DELETED', named('one', 3, namespace)));
      });
      const told: unknown[] = [];
      const ended = new AbortController();
      const gone = once(ended.signal, 'abort');
      const following = followObject(
        {
          client: cluster.connect(),
          log: pino({ enabled: false }),
          path: '/apis/example.com/v1/things',
          name: 'one',
          ...(namespace === undefined ? {} : { namespace }),
        },
        (object) => {
          told.push(object);
          if (told.length === 3) ended.abort();
        },
        ended.signal,
      );
      await gone;
      await following;
      expect(told[0]).to.equal(undefined);
      expect(told[1]).to.have.nested.property('metadata.name', 'one');
      expect(told[2]).to.equal(undefined);
      expect(cluster.calls[0]?.url.searchParams.get('fieldSelector')).to.equal('metadata.name=one');
      await cluster.stop();
    });
  }
});
