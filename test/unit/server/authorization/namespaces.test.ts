// Tests of the cache of all namespaces.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { pino } from 'pino';
import { Namespaces } from '../../../../server/authorization/namespaces.ts';
import { NAMESPACES } from '../../../../server/resources/kind.ts';
import { KindCopies } from '../../../../server/resources/kinds/kind-copies.ts';
import { bookmark, event, ScriptedCluster, send } from '../../../support/cluster/scripted-cluster.ts';
import { running } from '../../../support/running.ts';
import { until } from '../../../support/until.ts';

const MADE = '2026-11-20T12:00:00Z';

const object = (name: string, creationTimestamp: string, resourceVersion: number): string =>
  JSON.stringify({
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name, creationTimestamp, resourceVersion: String(resourceVersion) },
  });

describe('Namespaces', () => {
  it('have their creation times, and are unknown while the cluster is silent', async () => {
    const opened = Promise.withResolvers<ServerResponse>();
    await using cluster = await ScriptedCluster.start(({ kind, response }) => {
      if (kind === 'stream') opened.resolve(response);
    });
    const client = cluster.connect();
    let now = 0;
    const log = pino({ level: 'silent' });
    const copies = new KindCopies({ client, log, domain: 'platform.io', monotonic: () => now });
    const namespaces = new Namespaces(copies.hold(NAMESPACES));
    await using _running = running((end) => copies.run(end));
    const createdAt = (name: string): number | undefined => namespaces.all().get(name)?.createdAt;
    const known = (): boolean => {
      try {
        return namespaces.all().size > 0;
      } catch {
        return false;
      }
    };
    expect(() => namespaces.all())
      .to.throw(/are not known/)
      .with.property('code', 503);
    const stream = await opened.promise;
    send(stream, event('ADDED', object('shop', '2026-11-20T10:00:00Z', 1)), bookmark(2, true));
    await until(known);
    expect(createdAt('shop')).to.equal(Date.parse('2026-11-20T10:00:00Z'));
    send(
      stream,
      event('DELETED', object('shop', '2026-11-20T10:00:00Z', 3)),
      event('ADDED', object('shop', '2026-11-20T11:00:00Z', 4)),
    );
    await until(() => createdAt('shop') === Date.parse('2026-11-20T11:00:00Z'));
    // Without a creation time, its lines cannot be distinguished from those of an earlier namespace.
    send(stream, event('ADDED', object('timeless', '', 5)), event('ADDED', object('bank', MADE, 6)));
    await until(() => createdAt('bank') !== undefined);
    expect([...namespaces.all().keys()].toSorted()).to.deep.equal(['bank', 'shop']);
    now = 30_000;
    expect(createdAt('bank')).to.equal(Date.parse(MADE));
    now = 30_001;
    expect(() => namespaces.all()).to.throw(/are not known/);
  });
});
