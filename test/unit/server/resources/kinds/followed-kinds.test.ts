// Tests of starting and stopping the informers of kinds.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { pino } from 'pino';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { exactName, type Kind, NAMESPACES, PODS, sourcePath } from '../../../../../server/resources/kind.ts';
import type { FollowedKind } from '../../../../../server/resources/kinds/followed-kind.ts';
import { FollowedKinds } from '../../../../../server/resources/kinds/followed-kinds.ts';
import type { FollowedKindsOptions } from '../../../../../server/resources/kinds/followed-kinds-options.ts';
import { runInTrace, startCall } from '../../../../../server/upstream/trace-context.ts';
import { type Call, list, refuse } from '../../../../support/cluster/scripted-cluster.ts';
import { plain } from '../../../../support/platform/kind-cache.ts';
import {
  API_SERVICES_PATH,
  CUSTOM_DEFINITIONS_PATH,
  KindCluster,
} from '../../../../support/platform/kind-cluster.ts';
import { until, untilSteady } from '../../../../support/until.ts';

const SERVICES: Kind = { ...PODS, plural: 'services', kind: 'Service' };
const WIDGETS: Kind = {
  group: 'example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
};
const PODS_PATH = sourcePath(PODS);
const TASK = { caller: 'a', signal: new AbortController().signal };

describe('FollowedKinds', () => {
  const { signal } = new AbortController();
  let cluster: KindCluster;
  let stop: AbortController;
  let running: Promise<void>;
  let removed: string[];

  function newKinds(options: Partial<FollowedKindsOptions> = {}): FollowedKinds {
    return new FollowedKinds({
      client: cluster.client,
      log: pino({ level: 'silent' }),
      domain: 'platform.io',
      slicer: new TimeSlicer(),
      preload: [],
      restricted: [],
      callerIndependent: [],
      maxKinds: 10,
      memoryBudget: 1 << 30,
      idleTimeout: 600_000,
      syncTimeout: 5_000,
      sweepMs: 5,
      metrics: { observe: () => ({}), remove: (kind) => removed.push(exactName(kind)) },
      ...options,
    });
  }

  async function follow(options: Partial<FollowedKindsOptions> = {}): Promise<FollowedKinds> {
    const kinds = newKinds(options);
    running = kinds.run(stop.signal);
    await until(() => kinds.catalog.has('pods'));
    return kinds;
  }

  const namesOf = (kinds: FollowedKinds): string[] => kinds.synced.map(({ kind }) => exactName(kind));

  async function failure(used: Promise<unknown>): Promise<StatusError> {
    try {
      await used;
    } catch (error) {
      if (error instanceof StatusError) return error;
      throw error;
    }
    throw new Error('the kind was found');
  }

  async function use(kinds: FollowedKinds, kind: Kind): Promise<FollowedKind> {
    return kinds.use(kind, { signal });
  }

  beforeEach(async () => {
    stop = new AbortController();
    removed = [];
    cluster = await KindCluster.start(PODS, NAMESPACES, SERVICES, WIDGETS);
    cluster.objects.set(PODS_PATH, [plain('shop/a', 1), plain('bank/b', 2)]);
  });

  afterEach(async () => {
    stop.abort();
    await running;
    await cluster.stop();
  });

  it('reads a kind outside of the trace of the request that needs it first, since it serves all callers', async () => {
    const traced: string[] = [];
    const note = ({ path }: ClusterRequest): void => {
      if (startCall('GET', 'https://kubernetes')) traced.push(path);
    };
    const { client } = cluster;
    const kinds = await follow({
      client: {
        open: (request) => {
          note(request);
          return client.open(request);
        },
        json: (request) => {
          note(request);
          return client.json(request);
        },
      },
    });
    const used = Promise.withResolvers<FollowedKind>();
    const trace = { startCall: () => ({ traceparent: '', ended: () => undefined }) };
    runInTrace(trace, () => used.resolve(use(kinds, SERVICES)));
    expect(exactName((await used.promise).kind)).to.equal('services');
    expect(traced).to.deep.equal([]);
  });

  it('follows a kind from its first use on, once', async () => {
    const kinds = await follow();
    expect(cluster.requests(PODS_PATH)).to.equal(0);
    const [first, second] = await Promise.all([use(kinds, PODS), use(kinds, PODS)]);
    expect(first).to.equal(second);
    expect(first).to.include({ objects: 2, synced: true });
    expect(first.bytes).to.be.above(0);
    expect([...first.snapshot().objects()].map(({ key }) => key)).to.deep.equal(['bank/b', 'shop/a']);
    expect(kinds.use(PODS, { signal })).to.equal(first);
    expect(cluster.requests(PODS_PATH)).to.equal(1);
    expect(namesOf(kinds)).to.deep.equal(['pods']);
  });

  it('responds at once to a permanent failure, and recovers', async () => {
    cluster.responses.set(PODS_PATH, ({ response }) => refuse(response, 403, 'Forbidden'));
    const kinds = await follow({ syncTimeout: 600_000 });
    for (let i = 0; i < 2; i++) {
      const { code, message } = await failure(use(kinds, PODS));
      expect(code).to.equal(503);
      expect(message).to.equal(
        'this server is not allowed to list pods: grant its ServiceAccount the verbs list and watch',
      );
    }
    expect(kinds.describe()).to.equal(
      'follows 1 kind; this server is not allowed to list pods: grant its ServiceAccount the verbs list and watch',
    );
    cluster.responses.clear();
    await until(() => namesOf(kinds).includes('pods'));
    expect((await use(kinds, PODS)).objects).to.equal(2);
    expect(kinds.describe()).to.equal('follows 1 kind');
  });

  it('serves the objects of a kind whose list fails later only for a time', async () => {
    const staleMs = 2_000;
    const kinds = await follow({ staleMs });
    const pods = await use(kinds, PODS);
    cluster.responses.set(PODS_PATH, ({ response }) =>
      refuse(response, 500, 'the conversion webhook failed'),
    );
    cluster.disconnect(PODS_PATH);
    expect(await use(kinds, PODS)).to.equal(pods);
    await until(() => pods.ageMs > staleMs);
    expect(await failure(use(kinds, PODS))).to.have.property('code', 503);
    await until(async () => {
      const { message } = await failure(use(kinds, PODS));
      return /^the list of pods is not up to date: .*the conversion webhook failed/.test(message);
    });
    // Other kinds are not affected, and the kind recovers.
    expect((await use(kinds, SERVICES)).synced).to.equal(true);
    cluster.responses.clear();
    await until(() => pods.ageMs < staleMs);
    expect(await use(kinds, PODS)).to.equal(pods);
  });

  it('offers no cache from the end of its watch until kube-apiserver is known to have the same history', async () => {
    const kinds = await follow();
    const pods = await use(kinds, PODS);
    const cached = () => kinds.cached(PODS);
    expect(cached()).to.equal(pods);
    const positions: (() => void)[] = [];
    cluster.responses.set(PODS_PATH, ({ kind, response }) => {
      if (kind === 'position') positions.push(() => list(response, 1));
      else refuse(response, 500, 'the history is not checked');
    });
    cluster.disconnect(PODS_PATH);
    await until(() => positions.length > 0);
    // etcd may be restored: other objects have the resourceVersions of the cache.
    expect(cached()).to.equal(undefined);
    cluster.responses.clear();
    positions[0]?.();
    await until(() => cached() === pods);
    expect(pods.snapshot().resourceVersion).to.equal('1000');
  });

  it('offers no cache of a kind that exceeds its budget', async () => {
    const kinds = await follow({ memoryBudget: 20_000 });
    const text = randomBytes(20_000).toString('base64');
    cluster.objects.set(PODS_PATH, [plain('shop/a', 1, {}, { text })]);
    const { message } = await failure(use(kinds, PODS));
    expect(message).to.equal('the pods of the cluster need more memory than this server has for caches');
    expect(removed).to.include('pods');
    expect(kinds.cached(PODS)).to.equal(undefined);
    expect(kinds.startable(PODS, 'ada')).to.equal(undefined);
    expect(kinds.follows(PODS)).to.equal(false);
    expect(kinds.describe()).to.include(message);
  });

  it('starts a cache only while no other one loads, and all use less than half of the budget', async () => {
    let others = 0;
    const kinds = await follow({ memoryBudget: 400_000, otherBytes: () => others });
    cluster.responses.set(PODS_PATH, () => undefined);
    const pods = use(kinds, PODS);
    kinds.start(SERVICES, 'ada');
    expect(kinds.follows(SERVICES)).to.equal(false);
    cluster.responses.clear();
    cluster.disconnect(PODS_PATH);
    await pods;
    kinds.start(SERVICES, 'ada');
    await until(() => kinds.cached(SERVICES) !== undefined);
    others = 200_000;
    kinds.start(NAMESPACES, 'ada');
    expect(kinds.follows(NAMESPACES)).to.equal(false);
    others = 190_000;
    kinds.start(NAMESPACES, 'ada');
    expect(kinds.follows(NAMESPACES)).to.equal(true);
  });

  it('starts a cache although another kind loads for too long', async () => {
    const kinds = await follow({ loadingMs: 0 });
    cluster.responses.set(PODS_PATH, () => undefined);
    kinds.start(PODS, 'ada');
    await until(() => cluster.requests(PODS_PATH) === 1);
    kinds.start(SERVICES, 'ada');
    await until(() => kinds.cached(SERVICES) !== undefined);
  });

  it('refuses a kind over its share before its first list is complete', async () => {
    const kinds = await follow({ memoryBudget: 200_000, syncTimeout: 600_000 });
    const text = randomBytes(30_000).toString('base64');
    cluster.responses.set(PODS_PATH, ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (let i = 0; i < 9; i++) {
        const object = { kind: 'Pod', apiVersion: 'v1', ...plain(`shop/p${i}`, 10 + i, {}, { text }) };
        response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
      }
    });
    expect((await failure(use(kinds, PODS))).message).to.include('more memory than this server has');
  });

  it('counts labels and past events', async () => {
    const kinds = await follow();
    const label = 'x'.repeat(10_000);
    cluster.objects.set(PODS_PATH, [plain('shop/a', 1, { labels: { label } })]);
    const pods = await use(kinds, PODS);
    expect(pods.bytes).to.be.above(20_000);
    const before = pods.bytes;
    cluster.send(PODS_PATH, 'ADDED', plain('shop/b', 2_000, {}, { text: 'y'.repeat(50_000) }));
    await until(() => pods.objects === 2);
    // The object, and its copy in the window.
    expect(pods.bytes - before).to.be.above(100_000);
  });

  it('counts the indexes of lists, and releases them before it drops a kind', async () => {
    let others = 0;
    const kinds = await follow({ memoryBudget: 400_000, otherBytes: () => others });
    const pods = await use(kinds, PODS);
    const sorting = { sortBy: 'name', filter: { key: '', test: () => true }, namespaces: undefined };
    const sort = async () => pods.index.sorted(() => pods.snapshot(), sorting, TASK);
    await sort();
    expect(pods.index.bytes).to.be.within(16, 1_000);
    others = 400_000 - kinds.copies.heldBytes - pods.bytes - pods.index.bytes + 1;
    await until(() => pods.index.bytes === 0);
    expect(namesOf(kinds)).to.deep.equal(['pods']);
    expect((await sort()).objects).to.have.length(2);
  });

  it('relists a kind that uses nearly its share', async () => {
    const kinds = await follow({ memoryBudget: 200_000 });
    const text = randomBytes(60_000).toString('base64');
    cluster.objects.set(PODS_PATH, [plain('shop/a', 1, {}, { text })]);
    const pods = await use(kinds, PODS);
    expect(pods.bytes).to.be.within(60_000, 100_000);
    cluster.disconnect(PODS_PATH);
    cluster.responses.set(PODS_PATH, ({ kind, response }) => {
      cluster.responses.delete(PODS_PATH);
      if (kind === 'position') list(response, 1);
    });
    await until(() => cluster.requests(PODS_PATH) > 2);
    await until(() => kinds.cached(PODS) === pods);
    expect(pods.stopped.aborted).to.equal(false);
  });

  it('refuses the kind that grows beyond its share, and keeps the others', async () => {
    const kinds = await follow({ memoryBudget: 200_000 });
    await use(kinds, SERVICES);
    const pods = await use(kinds, PODS);
    // Each object is in memory twice: in its list and in the window. Both together fit the budget.
    for (const i of [0, 1]) {
      cluster.send(PODS_PATH, 'ADDED', plain(`shop/p${i}`, 2_000 + i, {}, { text: 'y'.repeat(30_000) }));
    }
    await until(() => pods.stopped.aborted);
    expect((await failure(use(kinds, PODS))).message).to.include('more memory than this server has');
    expect(namesOf(kinds)).to.deep.equal(['services']);
  });

  it('refuses a further kind when the sum of all caches exceeds the budget', async () => {
    let others = 0;
    const kinds = await follow({ memoryBudget: 1 << 20, otherBytes: () => others, sweepMs: 600_000 });
    const pods = await use(kinds, PODS);
    others = 1 << 20;
    cluster.objects.set(sourcePath(SERVICES), [plain('shop/s', 1, {}, { text: 'y'.repeat(50_000) })]);
    expect((await failure(use(kinds, SERVICES))).message).to.include('more memory than this server has');
    expect(pods.stopped.aborted).to.equal(true);
  });

  it('refuses the kind that grew, not the largest one, and for longer each time', async () => {
    let others = 0;
    const large = (name: string) =>
      plain(`shop/${name}`, 2_000, {}, { text: randomBytes(40_000).toString('base64') });
    cluster.objects.set(PODS_PATH, ['a', 'b', 'c', 'd', 'e', 'f'].map(large));
    const options = { memoryBudget: 1 << 20, otherBytes: () => others, sweepMs: 5, overBudgetMs: 3_000 };
    const kinds = await follow(options);
    const pods = await use(kinds, PODS);
    const services = await use(kinds, SERVICES);
    others = (1 << 20) - pods.bytes - services.bytes - 20_000;
    cluster.objects.set(sourcePath(SERVICES), [large('s')]);
    cluster.send(sourcePath(SERVICES), 'ADDED', large('s'));
    await until(() => services.stopped.aborted || pods.stopped.aborted);
    expect(namesOf(kinds)).to.deep.equal(['pods']);
    expect((await failure(use(kinds, SERVICES))).details?.retryAfterSeconds).to.be.within(1, 3);
    await until(() => !kinds.describe().includes('services'));
    expect((await failure(use(kinds, SERVICES))).message).to.include('more memory than this server has');
    expect((await failure(use(kinds, SERVICES))).details?.retryAfterSeconds).to.be.within(4, 6);
    expect(pods.stopped.aborted).to.equal(false);
  });

  it('watches a kind once for lists and for a feature, which has the facts from before the first list to after the last', async () => {
    const kinds = await follow({ features: { podLogs: true, nodeUsage: false }, maxKinds: 1 });
    cluster.objects.set(PODS_PATH, [
      plain('shop/a', 1, { labels: { app: 'a' } }, { spec: { nodeName: 'n1' } }),
    ]);
    const copy = kinds.copies.hold(PODS);
    const nodes = () => Array.from(copy.cache.facts().objects(), ({ facts }) => facts.features?.pod?.node);
    await until(() => copy.synced);
    expect(nodes()).to.deep.equal(['n1']);
    // A reader of objects fails closed.
    expect(() => copy.cache.snapshot())
      .to.throw()
      .with.property('code', 503);
    expect(namesOf(kinds)).to.deep.equal([]);
    expect(kinds.follows(PODS)).to.equal(false);
    const lengths: number[] = [];
    copy.cache.onChange(() => lengths.push(nodes().length));
    const used = await use(kinds, PODS);
    expect(used.copy).to.equal(copy);
    const [pod] = used.snapshot().objects();
    expect(JSON.parse(pod?.bytes.toString() ?? '')).to.have.nested.property('spec.nodeName', 'n1');
    expect(pod?.labels).to.deep.equal({ app: 'a' });
    // Another kind takes its place: its objects are released, and its facts stay.
    await use(kinds, SERVICES);
    expect(used.stopped.aborted).to.equal(true);
    expect(() => used.snapshot())
      .to.throw()
      .with.property('code', 503);
    expect(nodes()).to.deep.equal(['n1']);
    expect(removed).to.deep.equal([]);
    await until(() => cluster.streams(PODS) === 1);
    cluster.send(PODS_PATH, 'ADDED', plain('shop/b', 2_000, {}, { spec: { nodeName: 'n2' } }));
    await until(() => nodes().length === 2);
    expect(nodes()).to.deep.equal(['n1', 'n2']);
    expect(lengths).not.to.include(0);
    expect((await use(kinds, PODS)).copy).to.equal(copy);
  });

  it('releases the facts of a kind over the budget, and lists it again after a pause', async () => {
    const kinds = await follow({
      memoryBudget: 200_000,
      features: { podLogs: true, nodeUsage: false },
      overBudgetMs: 10,
    });
    const pods = (count: number) => Array.from({ length: count }, (_, i) => plain(`shop/p${i}`, 1));
    cluster.objects.set(PODS_PATH, pods(300));
    const copy = kinds.copies.hold(PODS);
    await until(() => String(copy.informer.failure).includes('more memory than this server has'));
    expect({ synced: copy.synced, stale: copy.isStale }).to.deep.equal({ synced: false, stale: true });
    expect(() => copy.cache.facts())
      .to.throw()
      .with.property('code', 503);
    await use(kinds, SERVICES);
    cluster.objects.set(PODS_PATH, pods(2));
    await until(() => copy.synced);
    expect(copy.cache.facts().size).to.equal(2);
    expect(copy.informer.failure).to.equal(undefined);
    expect(namesOf(kinds)).to.deep.equal(['services']);
  });

  it('refuses the objects of a kind over its budget, and keeps the facts that a feature needs', async () => {
    const kinds = await follow({ memoryBudget: 200_000, features: { podLogs: true, nodeUsage: false } });
    const text = randomBytes(30_000).toString('base64');
    const large = (i: number) => plain(`shop/p${i}`, 2_000 + i, { labels: { text } }, { text });
    cluster.objects.set(PODS_PATH, [large(0), large(1)]);
    const copy = kinds.copies.hold(PODS);
    await until(() => copy.synced);
    expect(copy.bytes).to.be.below(5_000);
    for (let i = 0; i < 2; i++) {
      expect((await failure(use(kinds, PODS))).message).to.include('more memory than this server has');
      expect(copy.objects).to.equal(2);
      expect(copy.bytes).to.be.below(5_000);
    }
    const services = await use(kinds, SERVICES);
    await until(() => cluster.streams(PODS) === 1);
    cluster.send(PODS_PATH, 'ADDED', large(2));
    await until(() => copy.objects === 3);
    expect(services.stopped.aborted).to.equal(false);
    expect(copy.bytes).to.be.below(200_000);
  });

  it('ends a wait when the client disconnects', async () => {
    cluster.responses.set(PODS_PATH, () => undefined);
    const kinds = await follow({ syncTimeout: 600_000 });
    const client = new AbortController();
    const used = Promise.resolve(kinds.use(PODS, client)).catch((error: unknown) => error);
    client.abort();
    expect(await used).to.be.instanceOf(Error);
  });

  it('evicts the least recently used kind beyond the limit', async () => {
    const kinds = await follow({ maxKinds: 2 });
    await use(kinds, PODS);
    await use(kinds, SERVICES);
    await use(kinds, PODS);
    await use(kinds, NAMESPACES);
    expect(namesOf(kinds)).to.deep.equal(['pods', 'namespaces']);
    expect(removed).to.deep.equal(['services']);
  });

  it('evicts a kind with watches only if all others have watches or live lists', async () => {
    const kinds = await follow({ maxKinds: 2 });
    const pods = await use(kinds, PODS);
    const watcher = { event: () => undefined, bookmark: () => undefined, end: () => undefined };
    const services = await use(kinds, SERVICES);
    pods.cache.watch('1000', watcher);
    await use(kinds, NAMESPACES);
    expect(removed).to.deep.equal(['services']);
    expect(services.stopped.aborted).to.equal(true);
    kinds.cached(NAMESPACES)?.onChange(() => undefined);
    await use(kinds, SERVICES);
    expect(removed).to.deep.equal(['services', 'pods']);
  });

  it('takes a kind with live lists from the caller who started the most', async () => {
    const kinds = await follow({ maxKinds: 2 });
    const of = async (caller: string, kind: Kind) => kinds.use(kind, { signal, caller });
    for (const kind of [PODS, SERVICES]) (await of('eve', kind)).onChange(() => undefined);
    expect(await failure(of('eve', NAMESPACES))).to.include({ code: 503 });
    (await of('bob', NAMESPACES)).onChange(() => undefined);
    expect(removed).to.deep.equal(['pods']);
    expect(await failure(of('eve', PODS)), 'equal shares').to.include({ code: 503 });
    expect(await failure(of('bob', PODS)), 'equal shares').to.include({ code: 503 });
  });

  it('lets a caller who uses many kinds evict his own, not those of others', async () => {
    const kinds = await follow({ maxKinds: 3 });
    await kinds.use(PODS, { signal, caller: 'bob' });
    for (const kind of [SERVICES, NAMESPACES, WIDGETS, SERVICES]) {
      await kinds.use(kind, { signal, caller: 'eve' });
    }
    expect(removed).to.deep.equal(['services', 'namespaces']);
    expect(namesOf(kinds)).to.include('pods');
  });

  it('starts a cache for the acceleration in place of one of the caller who started the most', async () => {
    const kinds = await follow({ maxKinds: 2 });
    for (const kind of [PODS, SERVICES]) {
      kinds.start(kind, 'eve');
      await until(() => kinds.cached(kind) !== undefined);
    }
    expect(kinds.startable(NAMESPACES, 'eve'), 'evicts nothing of her own').to.equal(undefined);
    kinds.start(NAMESPACES, 'bob');
    await until(() => kinds.cached(NAMESPACES) !== undefined);
    expect(removed).to.deep.equal(['pods']);
    for (const caller of ['eve', 'bob']) expect(kinds.startable(PODS, caller), caller).to.equal(undefined);
  });

  it('waits for the new version of a kind that changes during its first list', async () => {
    const next: Kind = { ...WIDGETS, version: 'v2' };
    cluster.responses.set(sourcePath(WIDGETS), () => undefined);
    const kinds = await follow();
    const used = use(kinds, WIDGETS);
    await until(() => cluster.requests(sourcePath(WIDGETS)) === 1);
    cluster.kinds = [PODS, NAMESPACES, SERVICES, next];
    cluster.define('ADDED', next);
    expect((await used).kind).to.include({ version: 'v2' });
    // A request that resolved its path before the change.
    expect((await use(kinds, WIDGETS)).kind).to.include({ version: 'v2' });
  });

  it('responds with 404 to a request for a kind that disappears meanwhile', async () => {
    cluster.responses.set(sourcePath(WIDGETS), () => undefined);
    const kinds = await follow();
    const failed = failure(use(kinds, WIDGETS));
    await until(() => cluster.requests(sourcePath(WIDGETS)) === 1);
    cluster.kinds = [PODS, NAMESPACES, SERVICES];
    cluster.define('DELETED', WIDGETS);
    expect((await failed).code).to.equal(404);
    expect((await failure(use(kinds, WIDGETS))).code).to.equal(404);
  });

  it('serves no kind for a request that was authorized for another scope', async () => {
    const kinds = await follow();
    const { code, message } = await failure(use(kinds, { ...WIDGETS, namespaced: false }));
    expect([code, message]).to.deep.equal([503, 'the scope of widgets.example.com has changed']);
  });

  it('serves no kind while the APIServices are unknown, and recovers', async () => {
    cluster.responses.set(API_SERVICES_PATH, ({ response }) => refuse(response, 403, 'Forbidden'));
    const kinds = newKinds();
    running = kinds.run(stop.signal);
    await until(() => cluster.requests(API_SERVICES_PATH) > 0 && cluster.requests('/apis') > 0);
    const resolved = Promise.resolve(kinds.catalog.resolve('pods', { signal }));
    const { code, message } = await failure(resolved);
    expect(code).to.equal(503);
    expect(message).to.include('not allowed to list apiservices');
    expect((await failure(use(kinds, PODS))).code).to.equal(503);
    expect(kinds.cached(PODS)).to.equal(undefined);
    expect(kinds.startable(PODS, 'ada')).to.equal(undefined);
    cluster.responses.clear();
    await until(() => kinds.catalog.has('pods'));
    expect((await use(kinds, PODS)).objects).to.equal(2);
  });

  it('drops a kind at once when its group becomes an aggregated API, and after it was one', async () => {
    const kinds = await follow();
    cluster.objects.set(sourcePath(WIDGETS), [plain('shop/w', 1)]);
    const local = await use(kinds, WIDGETS);
    cluster.serveBy('MODIFIED', WIDGETS, { name: 'widgets', namespace: 'shop' });
    await until(() => local.stopped.aborted);
    expect(kinds.cached(WIDGETS)).to.equal(undefined);
    const refused = await failure(use(kinds, WIDGETS));
    expect(refused.code).to.equal(404);
    expect(refused.message).to.include('resources.callerIndependent');
    expect(kinds.follows(WIDGETS)).to.equal(false);
    cluster.serveBy('MODIFIED', WIDGETS);
    await until(() => kinds.catalog.has('widgets'));
    expect(await use(kinds, WIDGETS)).not.to.equal(local);
  });

  it('drops a local kind after any change of its APIService, which can have been aggregated meanwhile', async () => {
    const kinds = await follow();
    const before = await use(kinds, WIDGETS);
    cluster.serveBy('MODIFIED', WIDGETS);
    await until(() => before.stopped.aborted);
    cluster.serveBy('DELETED', WIDGETS);
    await until(() => !kinds.catalog.has('widgets'));
    expect((await failure(use(kinds, WIDGETS))).message).to.include('APIService v1.example.com');
  });

  it('does not accelerate while the watch of APIServices is interrupted', async () => {
    const kinds = await follow();
    const pods = await use(kinds, PODS);
    expect(kinds.cached(PODS)).to.equal(pods);
    cluster.responses.set(API_SERVICES_PATH, ({ response }) => refuse(response, 500, 'InternalError'));
    cluster.disconnect(API_SERVICES_PATH);
    await until(() => kinds.cached(PODS) === undefined);
    cluster.responses.clear();
    await until(() => kinds.cached(PODS) === pods);
  });

  it('does not accelerate a custom resource while the definitions are unknown or interrupted', async () => {
    const refused = ({ response }: Call): void => refuse(response, 500, 'InternalError');
    cluster.responses.set(CUSTOM_DEFINITIONS_PATH, refused);
    const kinds = await follow();
    expect(kinds.startable(PODS, 'ada')).to.include(PODS);
    expect(kinds.startable(WIDGETS, 'ada')).to.equal(undefined);
    cluster.responses.clear();
    await until(() => kinds.startable(WIDGETS, 'ada') !== undefined);
    const [pods, widgets] = [await use(kinds, PODS), await use(kinds, WIDGETS)];
    expect(kinds.cached(WIDGETS)).to.equal(widgets);
    cluster.responses.set(CUSTOM_DEFINITIONS_PATH, refused);
    cluster.disconnect(CUSTOM_DEFINITIONS_PATH);
    await until(() => kinds.cached(WIDGETS) === undefined);
    expect(kinds.cached(PODS)).to.equal(pods);
    expect(kinds.use(WIDGETS, { signal }), 'lists continue').to.equal(widgets);
    cluster.responses.clear();
    await until(() => kinds.cached(WIDGETS) === widgets);
  });

  it('serves the kinds of aggregated APIs that the configuration names, by kind and by group', async () => {
    const gadgets: Kind = { ...WIDGETS, plural: 'gadgets', kind: 'Gadget' };
    cluster.kinds = [...cluster.kinds, gadgets];
    cluster.serveBy('MODIFIED', WIDGETS, { name: 'api', namespace: 'default' });
    const one = newKinds({ callerIndependent: ['widgets.example.com'] });
    const all = newKinds({ callerIndependent: ['*.example.com'] });
    running = Promise.all([one.run(stop.signal), all.run(stop.signal)]).then(() => undefined);
    await until(() => one.catalog.has('widgets') && all.catalog.has('widgets'));
    expect((await use(one, WIDGETS)).synced).to.equal(true);
    expect(one.cached(WIDGETS)).to.equal(undefined);
    expect(all.startable(WIDGETS, 'ada')).to.equal(undefined);
    expect(one.catalog.has('gadgets')).to.equal(false);
    expect((await use(all, gadgets)).synced).to.equal(true);
  });

  it('follows the kinds of the configuration from the start, also those that appear later', async () => {
    cluster.kinds = [PODS, SERVICES];
    const kinds = await follow({ preload: ['pods', 'widgets.example.com'], idleTimeout: 100 });
    await until(() => namesOf(kinds).join() === 'pods');
    cluster.kinds = [PODS, SERVICES, WIDGETS];
    await until(() => namesOf(kinds).join() === 'pods,widgets.example.com');
    const before = cluster.requests(PODS_PATH);
    // Several sweeps after the idle timeout.
    await untilSteady(() => cluster.requests(PODS_PATH));
    expect(cluster.requests(PODS_PATH)).to.equal(before);
  });
});
