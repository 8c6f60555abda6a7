// Tests of the creation of lists under `/kapis` from the configuration.
import { expect } from 'chai';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { Admission } from '../../../../server/admission/admission.ts';
import type { Attributes } from '../../../../server/authorization/authorizer.ts';
import { NamespaceScopes } from '../../../../server/authorization/namespace-scopes.ts';
import { CacheMetrics } from '../../../../server/cache/cache-metrics.ts';
import { completeConfig } from '../../../../server/config/config.ts';
import { readEnvironment } from '../../../../server/config/environment.ts';
import { newResources, type Resources } from '../../../../server/lists/lists.ts';
import { newNodes } from '../../../../server/nodes/nodes.ts';
import { parseRequestInfo } from '../../../../server/request/request-info.ts';
import { NODES, PODS, sourcePath } from '../../../../server/resources/kind.ts';
import { newKinds } from '../../../../server/resources/kinds/kinds.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { plain } from '../../../support/platform/kind-cache.ts';
import { KindCluster } from '../../../support/platform/kind-cluster.ts';
import { PLATFORM_PATH } from '../../../support/platform/platform-lists.ts';
import { until } from '../../../support/until.ts';

const USERS = { group: 'iam.platform.io', version: 'v1', plural: 'users', kind: 'User', namespaced: false };

describe('newResources', () => {
  const stop = new AbortController();
  const metrics = new Registry();
  let cluster: KindCluster;
  let resources: Resources;
  let server: HandlerServer;
  let running: Promise<unknown>;

  before(async () => {
    cluster = await KindCluster.start(NODES, PODS, USERS);
    cluster.objects.set(sourcePath(PODS), [plain('shop/cart', 1)]);
    cluster.objects.set(sourcePath(NODES), [plain('node-1', 2)]);
    const environment = readEnvironment({}, 'host');
    const config = await completeConfig({
      config: undefined,
      overrides: [],
      environment,
      workingDirectory: '/',
    });
    const { client } = cluster;
    const log = pino({ level: 'silent' });
    const kinds = newKinds(config, { client, log, cacheMetrics: new CacheMetrics(metrics) });
    const copy = kinds.followed.copies.hold(NODES, 'objects');
    const nodes = newNodes(config, { copy, metrics });
    const authorizer = { authorize: () => ({ allowed: true, reason: '' }) };
    const { signal } = stop;
    const ttl = { allowTtlMs: 0, denyTtlMs: 0 };
    const scopes = new NamespaceScopes({ authorizer, namespaces: () => new Map(), ...ttl, signal });
    const admission = new Admission();
    resources = newResources(config, { client, nodes, kinds, authorizer, scopes, admission });
    running = kinds.followed.run(signal);
    server = await new HandlerServer(resources.route.handler).start();
    await until(() => copy.synced && resources.route.serves?.('pods') === true);
  });

  after(async () => {
    await server.close();
    stop.abort();
    await running;
    await cluster.stop();
  });

  it('is open to authenticated callers, because it checks the permissions itself', async () => {
    const reviewed: Attributes[] = [];
    const authorizer = resources.authorizer({
      authorize: (attributes) => {
        reviewed.push(attributes);
        return { allowed: false, reason: 'reviewed' };
      },
    });
    const decide = async (path: string, ...groups: string[]): Promise<boolean> => {
      const info = parseRequestInfo('GET', path);
      if (!info.isResourceRequest) throw new Error(`${path} is no resource`);
      const user = { name: 'jane', uid: '', groups, extra: {} };
      const { allowed } = await authorizer.authorize({ ...info, user }, { signal: stop.signal });
      return allowed;
    };
    expect(await decide(`${PLATFORM_PATH}/pods`, 'system:authenticated')).to.equal(true);
    expect(await decide(`${PLATFORM_PATH}/pods`, 'system:unauthenticated')).to.equal(false);
    // The aggregated API is authorized by the chain.
    const aggregated = `${PLATFORM_PATH.replace('/kapis', '/apis')}/nodes`;
    expect(await decide(aggregated, 'system:authenticated')).to.equal(false);
    expect(await decide('/kapis/iam.platform.io/v1beta1/users', 'system:authenticated')).to.equal(false);
    expect(reviewed).to.have.length(3);
  });

  it('has long-running live lists', () => {
    const isLong = (path: string, accept?: string): boolean | undefined => {
      const info = parseRequestInfo('GET', path);
      const request = { method: 'GET', headers: { accept } };
      return resources.isLongRunning({ info, request } as Parameters<Resources['isLongRunning']>[0]);
    };
    expect(isLong(`${PLATFORM_PATH}/pods`, 'text/event-stream')).to.equal(true);
    expect(isLong(`${PLATFORM_PATH}/pods`, 'application/json')).to.equal(false);
    expect(isLong(`${PLATFORM_PATH}/pods`)).to.equal(false);
    expect(isLong('/apis/resources.platform.io/v1alpha3/nodes', 'text/event-stream')).to.equal(undefined);
  });

  it('has a time limit for objects, searches and errors, also if a client asks for events or a watch', () => {
    const accept = 'text/event-stream, application/json;q=0.9';
    for (const [path, method = 'GET'] of [
      ['/namespaces/bank/pods/job'],
      ['/search?q=a'],
      ['/search?q=a&watch=true'],
      ['/namespaces/bank/pods/job/log'],
      ['/pods', 'POST'],
    ] as const) {
      const info = parseRequestInfo(method, PLATFORM_PATH + path);
      const request = { method, headers: { accept } };
      const context = { info, request } as Parameters<Resources['isLongRunning']>[0];
      expect(resources.isLongRunning(context), `${method} ${path}`).to.equal(false);
    }
  });
});
