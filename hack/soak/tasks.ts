// Tasks of the soak test: requests of all parts of the server, at a moderate rate, and constant change of the cluster.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { PASSWORD } from '../bench/scene/crowd.ts';
import { CORE_NODES, OUR_NODES } from '../bench/scene/scene.ts';
import { Client, type ClientRequest } from '../control-plane/client.ts';
import { nodeName, realisticNode } from '../simulation/realistic-node.ts';
import { until } from '../system/until.ts';
import {
  bindingOf,
  CALLER,
  type Environment,
  GROUP,
  NODES,
  RBAC,
  type Replica,
  TENANT,
} from './environment.ts';
import type { Recorder, Task } from './load.ts';
import { openEcho, openStream, type Stream, type StreamTarget } from './streams.ts';

const CONSOLE = '/kapis/resources.platform.io/v1alpha3';
const LOGS = '/kapis/logging.platform.io/v1alpha2/logs';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const SHOP = '/api/v1/namespaces/shop/pods';
const PATCH = 'application/merge-patch+json';
const HOLD_MS = 10_000;

/** Kinds of requests that do not involve the server. */
export const CONTROLS = ['kube-apiserver: get', 'kube-apiserver: list'] as const;

export async function soakTasks(environment: Environment, recorder: Recorder): Promise<readonly Task[]> {
  const tasks = environment.replicas.map((replica) => tasksOf(environment, replica, recorder));
  return [...(await Promise.all(tasks)).flat(), ...changes(environment, recorder)];
}

async function tasksOf(environment: Environment, replica: Replica, recorder: Recorder): Promise<Task[]> {
  const { anonymous, server, tokens } = replica;
  const { cluster, ca, users } = environment;
  const other = environment.replicas.find((each) => each !== replica) ?? replica;
  const caller = { session: await tokens.signIn(CALLER, PASSWORD) };
  const tenant = { session: await tokens.signIn(TENANT, PASSWORD) };
  const pod = await podOf(cluster);
  const named = (name: string): string => `${replica.name}: ${name}`;
  const timed = <Result>(name: string, work: () => Promise<Result>) => recorder.time(named(name), work);
  const send = (name: string, path: string, request: ClientRequest, status = 200) =>
    timed(name, () => anonymous.expect(path, request, [status]));
  const task = (name: string, everyMs: number, work: Task['work']): Task => ({
    name: named(name),
    everyMs,
    work,
  });
  const get = (name: string, everyMs: number, path: () => string, user = caller): Task =>
    task(name, everyMs, (signal) => send(name, path(), { token: user.session.access_token, signal }));
  const hold = (name: string, open: (target: StreamTarget) => Promise<Stream>): Task => ({
    ...task(name, HOLD_MS, async (signal) => {
      const target = { url: server.url, ca, token: caller.session.access_token, signal };
      const { ended, drop } = await timed(name, () => open(target));
      await Promise.race([ended, delay(HOLD_MS, undefined, { signal })]).finally(drop);
    }),
    lanes: 2,
  });
  const stream = (name: string, path: () => string, accept?: string): Task =>
    hold(name, (target) => openStream(target, path(), accept));
  const echo = (name: string, path: string, from: number): Task =>
    hold(name, (target) => openEcho(target, `${SHOP}/${pod}/${path}`, from));
  const since = (seconds: number): string => `start_time=${Math.floor(Date.now() / 1000) - seconds}`;
  return [
    get('aggregated list', 2_000, () => OUR_NODES),
    get('aggregated get', 500, () => `${OUR_NODES}/${nodeName(Date.now() % NODES)}`),
    get('console list', 1_000, () => `${CONSOLE}/pods?q=cart&facets=status,namespace&sortBy=name&limit=10`),
    get('partial console list', 1_000, () => `${CONSOLE}/pods?limit=10`, tenant),
    get('search', 2_000, () => `${CONSOLE}/search?q=cart&kinds=pods,deployments,configmaps,nodes`),
    get('gateway list', 1_000, () => '/api/v1/pods?resourceVersion=0'),
    get('gateway get, forwarded', 1_000, () => '/api/v1/namespaces/shop'),
    get('log query', 4_000, () => `${LOGS}?${since(300)}&size=50&log_query=item`),
    get('log statistics', 10_000, () => `${LOGS}?${since(300)}&operation=statistics`),
    get('log export', 20_000, () => `${LOGS}?${since(300)}&operation=export&format=ndjson`),
    stream('aggregated watch', () => `${OUR_NODES}?watch=1&resourceVersion=0`),
    stream('live list', () => `${CONSOLE}/pods?limit=10`, 'text/event-stream'),
    stream('gateway watch', () => '/api/v1/pods?watch=1&resourceVersion=0'),
    stream('gateway watch, forwarded', () => '/api/v1/secrets?watch=1&resourceVersion=0'),
    stream('log tail', () => `${LOGS}?follow=true&${since(60)}`),
    // The command ends by itself, because the simulated kubelet does not end it with the connection.
    echo('exec', 'exec?command=sh&command=-c&command=head+-c+5%3B+sleep+12&stdin=true&stdout=true', 1),
    echo('port-forward', 'portforward?ports=8080', 0),
    task('refresh of the callers', 30_000, async () => {
      for (const user of [caller, tenant]) user.session = await tokens.refresh(user.session.refresh_token);
    }),
    task('sign-in', 4_000, async () => {
      const user = users[Date.now() % users.length] ?? '';
      const first = await timed('sign-in', () => tokens.signIn(user, PASSWORD));
      const next = await timed('refresh', () => other.tokens.refresh(first.refresh_token));
      const before = await tokens.userInfo(next.access_token);
      await timed('revoke', () => tokens.revoke(next.refresh_token));
      const after = await tokens.userInfo(next.access_token);
      if (before !== 200 || after !== 401)
        throw new Error(`userinfo: ${before}, after the revocation ${after}`);
    }),
    task('gateway write', 2_000, async (signal) => {
      const token = caller.session.access_token;
      const name = `soak-${randomUUID()}`;
      const path = `${CONFIG_MAPS}/${name}`;
      const body = { metadata: { name } };
      await send('gateway create', CONFIG_MAPS, { method: 'POST', body, token, signal }, 201);
      const patch = { body: { data: { a: 'b' } }, contentType: PATCH };
      await send('gateway patch', path, { method: 'PATCH', ...patch, token, signal });
      await send('gateway delete', path, { method: 'DELETE', token, signal });
    }),
    task('invalid token', 2_000, (signal) =>
      send('invalid token', OUR_NODES, { token: randomUUID(), signal }, 401),
    ),
    task('ServiceAccount token', 10_000, async (signal) => {
      const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
      const { body } = await cluster.expect(path, { method: 'POST', body: {}, signal }, [201]);
      const token = text(recordIn(JSON.parse(body), 'status')['token']);
      await send('ServiceAccount token', OUR_NODES, { token, signal }, 403);
    }),
    task('new connection', 2_000, async (signal) => {
      using client = new Client(server.url, { ca }, 1);
      await timed('new connection', () => client.expect('/livez', { signal }, [200]));
    }),
  ];
}

/** Changes of the cluster, as its administrator. */
function changes({ cluster, replicas }: Environment, recorder: Recorder): Task[] {
  const change = (path: string, method: 'POST' | 'PATCH' | 'DELETE', signal: AbortSignal, body?: object) => {
    const contentType = method === 'PATCH' ? PATCH : 'application/json';
    return cluster.expect(path, { method, body, contentType, signal }, [200, 201, 202, 404]);
  };
  let turn = 0;
  const task = (name: string, everyMs: number, work: Task['work']): Task => ({ name, everyMs, work });
  const read = (name: string, path: string): Task =>
    task(name, 2_000, (signal) => recorder.time(name, () => cluster.get(path, signal)));
  return [
    read(CONTROLS[0], '/api/v1/namespaces/shop'),
    read(CONTROLS[1], CORE_NODES),
    read('list through the aggregator', OUR_NODES),
    task('changed nodes', 500, (signal) => {
      const metadata = { labels: { turn: `${turn}` } };
      return change(`${CORE_NODES}/${nodeName(turn++ % NODES)}`, 'PATCH', signal, { metadata });
    }),
    task('replaced pods', 5_000, async (signal) => {
      const path = '/api/v1/namespaces/monitoring/pods';
      await change(`${path}/${await podOf(cluster, path)}`, 'DELETE', signal);
    }),
    task('new nodes, namespaces and permissions', 15_000, async (signal) => {
      const node = realisticNode(NODES + turn++);
      const { name } = node.metadata;
      await change(CORE_NODES, 'POST', signal, node);
      await change('/api/v1/namespaces', 'POST', signal, { metadata: { name } });
      const binding = { metadata: { name }, ...bindingOf(TENANT, 'view') };
      await change(`${RBAC}/namespaces/${name}/rolebindings`, 'POST', signal, binding);
      await delay(5_000, undefined, { signal });
      await change(`/api/v1/namespaces/${name}`, 'DELETE', signal);
      await change(`${CORE_NODES}/${name}`, 'DELETE', signal);
    }),
    task('new kinds', 30_000, async (signal) => {
      const plural = `soaks${turn++}`;
      const objects = `/apis/${GROUP}/v1/namespaces/default/${plural}`;
      const body = { apiVersion: `${GROUP}/v1`, kind: `K${plural}`, metadata: { name: 'one' } };
      await change(DEFINITIONS, 'POST', signal, definitionOf(plural));
      const created = async () =>
        (await cluster.send(objects, { method: 'POST', body, signal })).status === 201;
      await until(created, { signal });
      for (const { name, client } of replicas) {
        const path = `${CONSOLE}/${plural}.${GROUP}`;
        const served = async () => (await client.send(path, { signal })).body.includes('"totalItems":1');
        await recorder.time(`${name}: first console list of a new kind`, () => until(served, { signal }));
      }
      await change(`${DEFINITIONS}/${plural}.${GROUP}`, 'DELETE', signal);
    }),
  ];
}

/** The first pod, by default one that is never deleted. */
async function podOf(cluster: Client, path = SHOP): Promise<string> {
  const [pod] = array(record(await cluster.get(path))['items']);
  return text(recordIn(pod, 'metadata')['name']);
}

function definitionOf(plural: string): object {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
  const names = { plural, kind: `K${plural}` };
  return {
    metadata: { name: `${plural}.${GROUP}` },
    spec: { group: GROUP, scope: 'Namespaced', names, versions: [version] },
  };
}
