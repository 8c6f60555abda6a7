// Tests of the decision whether a read is served from a cache, with a scripted kube-apiserver that allows every read.
import { expect } from 'chai';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { Admission } from '../../../../../server/admission/admission.ts';
import type { Credential } from '../../../../../server/authentication/authenticator.ts';
import { bearerToken } from '../../../../../server/authentication/bearer-token.ts';
import { PackedFrames } from '../../../../../server/cache/stored-object.ts';
import type { ClusterClient, ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { Accelerator } from '../../../../../server/gateway/acceleration/accelerator.ts';
import { CallerReviews } from '../../../../../server/gateway/acceleration/caller-reviews.ts';
import { TableColumns } from '../../../../../server/gateway/acceleration/table-columns.ts';
import { exactName, type Kind, NAMESPACES, PODS } from '../../../../../server/resources/kind.ts';
import { FollowedKind } from '../../../../../server/resources/kinds/followed-kind.ts';
import { KindCopies } from '../../../../../server/resources/kinds/kind-copies.ts';
import { RecentWrites } from '../../../../../server/resources/recent-writes.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';
import { type PlainObject, plain, WIDGETS } from '../../../../support/platform/kind-cache.ts';
import { rejection } from '../../../../support/rejection.ts';
import { until } from '../../../../support/until.ts';

const DEPLOYMENTS: Kind = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
const SERVICES: Kind = { ...DEPLOYMENTS, group: '', plural: 'services', kind: 'Service' };
/** The fields that the filter chain adds. */
const FORWARDED = {
  atProxyHost: false,
  maxBodyBytes: 0,
  longRunning: false,
  source: undefined,
  abortReason: undefined,
  onAbort: undefined,
};
const never = new AbortController().signal;
const TOKEN = { Authorization: 'Bearer caller' };

/** A kube-apiserver that allows every review for which `reviewed` does not return or resolve with false. */
function allowing(reviewed: (request: ClusterRequest) => unknown): ClusterClient {
  return {
    open: () => Promise.reject(new Error('not scripted')),
    json: async (request) => {
      return { status: { allowed: (await reviewed(request)) !== false } };
    },
  };
}

describe('the decision of the accelerator', () => {
  const kinds = new Map<string, FollowedKind>();
  let reviewed: (request: ClusterRequest) => unknown;
  let started: string[];
  let describeColumns: () => readonly object[];
  let server: HandlerServer;

  function follow(kind: Kind, version: number, objects: readonly PlainObject[]): FollowedKind {
    const copies = new KindCopies({
      client: allowing(() => undefined),
      log: pino({ level: 'silent' }),
      domain: 'platform.io',
      frames: new PackedFrames(),
    });
    const followed = new FollowedKind(kind, copies.hold(kind, 'objects'), new TimeSlicer());
    const replacement = followed.cache.replacement();
    for (const object of objects) replacement.add(Buffer.from(JSON.stringify(object)));
    replacement.commit(String(version));
    kinds.set(exactName(kind), followed);
    return followed;
  }

  beforeEach(async () => {
    reviewed = () => undefined;
    started = [];
    follow(
      PODS,
      100,
      ['a/p1', 'a/p2', 'a-b/p3', 'b/p4'].map((key, i) => plain(key, 10 + i)),
    );
    follow(NAMESPACES, 100, [plain('a', 1), plain('b', 2)]);
    follow(DEPLOYMENTS, 100, [plain('a/d', 3)]);
    const accelerator = new Accelerator({
      kinds: {
        cached: (wanted) => kinds.get(exactName(wanted)),
        startable: (wanted) => [SERVICES].find((kind) => exactName(kind) === exactName(wanted)),
        start: (wanted) => started.push(exactName(wanted)),
        apiServicesOutage: undefined,
      },
      reviews: new CallerReviews({
        client: allowing((request) => reviewed(request)),
        allowTtlMs: 0,
        seats: new Admission().callerReviews(),
        denyTtlMs: 0,
        signal: never,
      }),
      tables: new TableColumns({
        client: { json: async () => ({ columnDefinitions: describeColumns() }) },
        signal: never,
      }),
      writes: new RecentWrites(() => true),
      registry: new Registry(),
    });
    server = await new HandlerServer(async (context) => {
      const text = bearerToken(context);
      const credential: Credential | undefined =
        text === undefined ? undefined : { kind: 'token', text, authenticator: 'test' };
      const caller = `user ${String(context.request.headers['test-user'])}`;
      if (await accelerator.serve({ ...context, ...FORWARDED, credential, caller })) return;
      context.response.end('forwarded');
    }).start();
  });
  afterEach(() => server.close());

  async function read(path: string, headers = {}): Promise<{ result: string; body: string }> {
    const { headers: received, body } = await server.ask(path, { headers: { ...TOKEN, ...headers } });
    const status = String(received['cache-status']);
    const [, result = status] = /(hit|detail=.*)$/.exec(status) ?? [];
    return { result: result.replace('detail=', ''), body: body.toString() };
  }

  it('starts to follow a kind for a caller who may list all its objects, and for no other one', async () => {
    const decisions: string[] = [];
    let allowed = false;
    reviewed = () => {
      decisions.push('review');
      return allowed;
    };
    for (let i = 0; i < 16; i++) {
      expect((await read(`/api/v1/services?watch=${i % 2 === 0}`)).body).to.equal('forwarded');
    }
    await until(() => decisions.length === 16);
    await read('/api/v1/services/x');
    await read('/api/v1/namespaces/a/services');
    await read('/api/v1/services', { 'Impersonate-User': 'root' });
    await server.ask('/api/v1/services');
    expect(decisions).to.have.length(16);
    expect(started).to.deep.equal([]);
    allowed = true;
    await read('/api/v1/services?fieldSelector=metadata.name%3Dx');
    await until(() => started.length === 1);
    expect(started).to.deep.equal(['services']);
  });

  it('serves and follows kinds for others while the reviews of a caller hang, whose reads are forwarded', async () => {
    const hanging = Promise.withResolvers<void>();
    let reviews = 0;
    reviewed = ({ headers }) => {
      if (!headers?.['authorization']?.includes('mallory')) return undefined;
      reviews++;
      return hanging.promise;
    };
    const asMallory = (path: string, i: number): Promise<{ result: string }> =>
      read(path, { Authorization: `Bearer mallory-${i}`, 'Test-User': 'mallory' });
    for (let i = 0; i < 20; i++) expect((await asMallory('/api/v1/services', i)).result).to.equal('kind');
    const reads = Array.from({ length: 40 }, (_, i) => asMallory('/api/v1/pods?resourceVersion=0', i));
    await until(() => reviews === 32);
    expect((await read('/api/v1/pods?resourceVersion=0')).result).to.equal('hit');
    await read('/api/v1/services');
    await until(() => started.length === 1);
    // Those without a seat do not wait for the others.
    expect((await Promise.any(reads)).result).to.equal('error');
    expect(reviews).to.equal(32);
    hanging.resolve();
    await Promise.all(reads);
  });

  it('lists exactly the namespace of the path', async () => {
    const { body } = await read('/api/v1/namespaces/a/pods?resourceVersion=0');
    const { items } = JSON.parse(body) as { items: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).to.deep.equal(['p1', 'p2']);
  });

  it('forwards a watch from a resourceVersion before its window, because kube-apiserver may have the events', async () => {
    const { result } = await read('/api/v1/pods?watch=true&resourceVersion=99');
    expect(result).to.equal('expired');
  });

  for (const [reason, query] of [
    ['pages', 'limit=1&labelSelector=!absent&resourceVersion=100&resourceVersionMatch=NotOlderThan'],
    // Whether the last page has a continue token depends on the indexes of kube-apiserver.
    ['pages', 'limit=4&labelSelector=!absent&resourceVersion=100&resourceVersionMatch=NotOlderThan'],
    ['behind', 'resourceVersion=101'],
    // The cache has no events, so the proof would take longer than the list of kube-apiserver.
    ['quiet', ''],
  ] as const) {
    it(`${reason}: forwards a list with the query "${query}"`, async () => {
      expect(await read(`/api/v1/pods?${query}`)).to.deep.equal({ result: reason, body: 'forwarded' });
    });
  }

  it('forwards a read if the kind is dropped during the review', async () => {
    reviewed = () => kinds.get('pods')?.stop();
    const { result } = await read('/api/v1/pods?watch=true&resourceVersion=0');
    expect(result).to.equal('kind');
  });

  it('ends a watch without an error if the kind is dropped, as kube-apiserver does after a change of the kind', async () => {
    const path = '/apis/apps/v1/namespaces/a/deployments?watch=true&resourceVersion=0';
    const watch = server.ask(path, { headers: TOKEN });
    await until(() => kinds.get('deployments.apps')?.cache.watchers === 1);
    kinds.get('deployments.apps')?.stop();
    // One event, and no other one.
    expect(JSON.parse(String((await watch).body))).to.deep.include({ type: 'ADDED' });
  });

  const NAMES = [
    'Name',
    'Ready',
    'Status',
    'Restarts',
    'Age',
    'IP',
    'Node',
    'Nominated Node',
    'Readiness Gates',
  ];
  const columns = (names: readonly string[], type = 'string'): object[] =>
    names.map((name) => ({ name, type, format: '', description: `The ${name}.`, priority: 0 }));
  for (const [what, described, result] of [
    ['serves a Table with the columns of kube-apiserver', columns(NAMES), 'hit'],
    ['forwards a Table with an unknown column', columns([...NAMES, 'New']), 'columns'],
    ['forwards a Table without a column', columns(NAMES.slice(0, -1)), 'columns'],
    ['forwards a Table with a column of another type', columns(NAMES, 'integer'), 'columns'],
  ] as const) {
    it(what, async () => {
      describeColumns = () => described;
      const Accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
      const { result: seen, body } = await read('/api/v1/pods?resourceVersion=0', { Accept });
      expect(seen).to.equal(result);
      if (result === 'hit') expect(JSON.parse(body)).to.deep.include({ columnDefinitions: described });
    });
  }

  describe('with an object whose value only kube-apiserver knows', () => {
    const Accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const widget = (key: string, version: number, spec: object) => plain(key, version, {}, { spec });
    let widgets: FollowedKind;
    beforeEach(() => {
      describeColumns = () => [
        ...columns(['Name']),
        ...columns(['Size'], 'integer'),
        ...columns(['Color', 'Note']),
      ];
      const { columns: printed = [] } = WIDGETS.custom ?? {};
      const custom = {
        revision: '1',
        listKind: 'WidgetList',
        columns: [...printed, { name: 'Note', jsonPath: '.spec.note', type: 'string' }],
        selectableFields: ['.spec.color', '.spec.size'],
      };
      widgets = follow({ ...WIDGETS, custom }, 100, [
        widget('a/exact', 10, { color: 'red', size: 1 }),
        widget('b/color', 11, { color: 'x'.repeat(2000) }),
        widget('b/exact', 12, { color: 'red' }),
        widget('c/size', 13, { size: 2 ** 53 }),
        widget('d/note', 14, { note: 'x'.repeat(5000) }),
      ]);
    });

    async function expectResults(
      results: readonly (readonly [result: string, path: string, isTable?: true])[],
    ) {
      for (const [result, path, isTable] of results) {
        const query = `${path.includes('?') ? '&' : '?'}resourceVersion=0`;
        const accept = isTable ? { Accept } : {};
        const { result: seen } = await read(`/apis/example.com/v1/${path}${query}`, accept);
        expect(seen, path).to.equal(result);
      }
    }

    it('forwards reads that depend on it, and no others', () =>
      expectResults([
        ['hit', 'widgets'],
        ['hit', 'namespaces/a/widgets', true],
        ['hit', 'namespaces/a/widgets?fieldSelector=spec.color%3Dred'],
        ['values', 'widgets', true],
        ['values', 'widgets?fieldSelector=spec.color%3Dred'],
        ['values', 'widgets?watch=true', true],
        ['values', 'widgets?watch=true&fieldSelector=spec.size!%3D5'],
        ['values', 'namespaces/b/widgets', true],
        ['values', `namespaces/b/widgets?fieldSelector=spec.color%3D${'x'.repeat(2000)}`],
        ['values', 'namespaces/c/widgets?fieldSelector=spec.size%3D9007199254740992'],
        ['values', 'namespaces/d/widgets', true],
        ['values', 'namespaces/b/widgets/color', true],
        ['hit', 'namespaces/b/widgets/color'],
        ['hit', 'namespaces/b/widgets/exact', true],
        ['hit', 'namespaces/b/widgets?fieldSelector=metadata.name%3Dexact', true],
      ]));

    it('serves these reads again after it is deleted', async () => {
      const deleted = widget('d/note', 101, {});
      widgets.cache.apply('DELETED', Buffer.from(JSON.stringify(deleted)));
      await expectResults([['hit', 'namespaces/d/widgets', true]]);
    });

    for (const [what, query, headers] of [
      ['of Tables', '', { Accept }],
      ['with a field selector', '&fieldSelector=spec.color!%3Dblue', {}],
    ] as const) {
      it(`ends a watch ${what} when such an object arrives`, async () => {
        const path = `/apis/example.com/v1/namespaces/a/widgets?watch=true&resourceVersion=100${query}`;
        const watch = rejection(server.ask(path, { headers: { ...TOKEN, ...headers } }));
        await until(() => widgets.cache.watchers === 1);
        const next = widget('a/next', 101, { size: 2 ** 53 });
        widgets.cache.apply('ADDED', Buffer.from(JSON.stringify(next)));
        await watch;
        expect(widgets.cache.watchers).to.equal(0);
        expect((await read(path, headers)).result).to.equal('values');
      });
    }
  });

  it('forwards impersonation, a caller without a token, and a Table of an unknown kind, and a wildcard', async () => {
    const path = '/api/v1/pods?resourceVersion=0';
    expect((await read(path, { 'IMPERSONATE-user': 'bob' })).result).to.equal('identity');
    expect((await read(path, { 'Impersonate-Extra-scopes': 'x' })).result).to.equal('identity');
    expect((await server.ask(path)).headers['cache-status']).to.contain('identity');
    const accept = 'application/json; as = Table; v=v1; g=meta.k8s.io';
    const deployments = '/apis/apps/v1/deployments?resourceVersion=0';
    expect((await read(deployments, { Accept: accept })).result).to.equal('columns');
    expect((await read(path, { Accept: 'application/*' })).result).to.equal('media-type');
  });
});
