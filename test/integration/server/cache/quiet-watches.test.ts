// Test of a watch of events in a quiet cluster: kube-apiserver sends no bookmarks for events, because it has no watch cache
// for them.
import { expect } from 'chai';
import { Reflector } from '../../../../server/cluster/reflector/reflector.ts';
import { until } from '../../../support/until.ts';
import { sharedCluster } from './shared-cluster.ts';

const EVENTS = '/api/v1/events';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

describe('watches without changes', () => {
  it('of events resume from newer resourceVersions, without a failure or a relist', async () => {
    const { direct, controlPlane } = await sharedCluster();
    const stop = new AbortController();
    const names: string[] = [];
    const causes: string[] = [];
    const ways: string[] = [];
    const versions = new Set<string>();
    const reflector = new Reflector({
      client: {
        json: (request) => direct.json(request),
        open: (request) => {
          const version = new URL(request.path, 'http://a').searchParams.get('resourceVersion');
          if (version !== null) versions.add(version);
          return direct.open(request);
        },
      },
      path: EVENTS,
      sink: {
        replacement: () => ({ add: () => undefined, commit: () => undefined }),
        apply: (_type, object) => names.push(object.toString()),
        bookmark: () => undefined,
      },
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
      observer: { watchEnded: (cause) => causes.push(cause), listed: (way) => ways.push(way) },
      tuning: { stallMs: 4_000, healthyMs: 200, random: () => 0 },
    });
    const running = reflector.run(stop.signal);
    let count = 0;
    await until(async () => {
      const body = { metadata: { name: `quiet-${count++}` } };
      await controlPlane.client.expect(CONFIG_MAPS, { method: 'POST', body }, [201]);
      return versions.size >= 4;
    });
    const body = {
      metadata: { name: 'loud' },
      involvedObject: { kind: 'ConfigMap', namespace: 'default', name: 'quiet-0' },
    };
    await controlPlane.client.expect('/api/v1/namespaces/default/events', { method: 'POST', body }, [201]);
    await until(() => names.some((name) => name.includes('"loud"')));
    stop.abort();
    await running;
    expect(ways).to.deep.equal(['stream']);
    expect(new Set(causes)).to.deep.equal(new Set(['end']));
  });
});
