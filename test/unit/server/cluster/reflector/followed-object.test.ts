// Tests of the reflector for one named object.
import { once } from 'node:events';
import { expect } from 'chai';
import pino from 'pino';
import { followObject, ObjectSink } from '../../../../../server/cluster/reflector/followed-object.ts';
import { bookmark, event, ScriptedCluster, send } from '../../../../support/cluster/scripted-cluster.ts';

const named = (name: string, resourceVersion: number, namespace?: string): string => {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  return JSON.stringify({ metadata: { ...metadata, resourceVersion: String(resourceVersion) } });
};

describe('followObject', () => {
  for (const namespace of [undefined, 'ns']) {
    it(`reports each change and the deletion of ${namespace ? 'a namespaced' : 'a cluster-scoped'} object`, async () => {
      const cluster = await ScriptedCluster.start(({ response }) => {
        send(response, event('ADDED', named('other', 1, namespace)), bookmark(1, true));
        send(response, event('ADDED', named('one', 2, namespace)));
        send(response, event('DELETED', named('one', 3, namespace)));
      });
      const reported: unknown[] = [];
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
          reported.push(object);
          if (reported.length === 3) ended.abort();
        },
        ended.signal,
      );
      await gone;
      await following;
      expect(reported[0]).to.equal(undefined);
      expect(reported[1]).to.have.nested.property('metadata.name', 'one');
      expect(reported[2]).to.equal(undefined);
      expect(cluster.calls[0]?.url.searchParams.get('fieldSelector')).to.equal('metadata.name=one');
      await cluster.stop();
    });
  }
});

describe('ObjectSink', () => {
  const raw = (name: string, resourceVersion: number, namespace?: string): Buffer =>
    Buffer.from(named(name, resourceVersion, namespace));
  let reported: unknown[];
  let sink: ObjectSink;

  beforeEach(() => {
    reported = [];
    sink = new ObjectSink({ name: 'one', namespace: 'ns' }, (object) => reported.push(object));
  });

  it('ignores other objects, including those with the same name', () => {
    sink.apply('ADDED', raw('two', 1, 'ns'));
    sink.apply('ADDED', raw('one', 2, 'other'));
    sink.apply('DELETED', raw('one', 3));
    sink.bookmark();
    expect(reported).to.deep.equal([]);
  });

  it('throws for an unreadable object, so that the reflector relists', () => {
    for (const text of ['{"metadata":{"resourceVersion":"20"}}', '{"metadata":'])
      expect(() => sink.apply('ADDED', Buffer.from(text))).to.throw();
    expect(reported).to.deep.equal([]);
  });
});
