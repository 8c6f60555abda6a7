// Tests a property of all responses to a tenant: they do not depend on namespaces that the tenant may not read. The same
// requests are sent before, during and after changes in other namespaces, and their responses are compared as bytes.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { isRecord, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { forEach } from '../../../hack/simulation/bulk.ts';
import { definitionOf, version } from '../../support/cluster/custom-resource.ts';
import { until, untilSteady } from '../../support/until.ts';
import type { GatewayPlatform } from './gateway-platform.ts';
import { sharedGateway } from './shared-gateway.ts';

const LISTS = '/kapis/resources.platform.io/v1alpha3';
const LOGS = '/kapis/logging.platform.io/v1alpha2/logs';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const GROUP = 'foreign.example.com';
const THINGS = `things.${GROUP}`;
const OWN = 'own';
/** Exists, with objects, until the change. */
const DELETED = 'own-deleted';
/** Exist after the change. Their names sort before, between and after those of the tenant. */
const CREATED = ['a-foreign', 'own-foreign', 'z-foreign'] as const;
const UNKNOWN = 'nowhere';
/** The server ends a request after 60 s. */
const RESPONSE_MS = 90_000;
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

/** Paths of kinds in the Kubernetes API; `NS` stands for the namespace. */
const KINDS = {
  pods: '/api/v1/NS/pods',
  configmaps: '/api/v1/NS/configmaps',
  services: '/api/v1/NS/services',
  events: '/api/v1/NS/events',
  deployments: '/apis/apps/v1/NS/deployments',
  [THINGS]: `/apis/${GROUP}/v1/NS/things`,
  secrets: '/api/v1/NS/secrets',
  nothings: '/apis/apps/v1/NS/nothings',
};
const FOLLOWED = Object.entries(KINDS).slice(0, 6);

/** Headers that differ, with the reason. */
const VARYING: Readonly<Record<string, string>> = {
  date: 'the time',
  'last-modified': 'of OpenAPI: the time',
  'audit-id': 'the request',
  age: 'the last event of the kind, which the resourceVersion of a list of kube-apiserver at resourceVersion 0 shows too',
  'content-length': 'the length of the values that `comparable` removes; the body itself is compared',
};

/** Values of bodies that differ, with their replacement. kube-apiserver reveals the resourceVersion of lists too. */
const VARYING_VALUES: readonly (readonly [RegExp, string])[] = [
  [/("metadata":\{(?:"continue":"[^"]*",)?(?:"remainingItemCount":\d+,)?"resourceVersion":)"\d+"/, '$1""'],
  [/(Too large resource version: \d+, current:) \d+/, '$1'],
  // Ages in Tables, the duration of a log query, and the time in the name of an export.
  [/"(?:\d+[dhms])+"/g, '"age"'],
  [/"took":\d+/, '"took":0'],
  [/logs-\w+\./, 'logs.'],
];

function comparable(given: string): string {
  const body = given.replaceAll(/"continue":"([^"]+)"/g, (_, token: string) => {
    const { start } = record(JSON.parse(Buffer.from(token, 'base64url').toString()));
    return `"continue":"after ${text(start).replace('\0', '')}"`;
  });
  return VARYING_VALUES.reduce(
    (changed, [value, replacement]) => changed.replaceAll(new RegExp(value, 'g'), replacement),
    body,
  );
}

/**
 * Returns true for a read of the current state: whether a cache is current, and serves it, depends on the last event of the kind, which
 * lists of kube-apiserver show too. Only the status and the values are compared.
 */
function isCurrentRead(path: string): boolean {
  return /^\/apis?\//.test(path) && !path.includes('resourceVersion=');
}

/** Returns the values of a body: kube-apiserver and the caches order the members of objects differently. */
function valuesIn(body: string): string {
  const sorted = (_: string, value: unknown): unknown =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
  return body.startsWith('{') ? JSON.stringify(JSON.parse(body), sorted) : body;
}

interface Asked {
  readonly method: 'GET' | 'HEAD';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

function get(path: string, headers: Asked['headers'] = {}): Asked {
  return { method: 'GET', path, headers };
}

/** The streams of the tenant, and their events after a change of an own ConfigMap. */
function streamsOf(): readonly { readonly asked: Asked; readonly events: readonly string[] }[] {
  const watch = `${inNamespace(KINDS.configmaps, OWN)}?watch=true`;
  const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  const modified = ['{"type":"MODIFIED"'];
  const live = { accept: 'text/event-stream' };
  return [
    // From the cache, and forwarded.
    ...['resourceVersion=0', `resourceVersion=0&${initial}`, 'resourceVersion=0&unknown=1'].map((query) => ({
      asked: get(`${watch}&${query}`),
      events: modified,
    })),
    { asked: get(`${watch}&resourceVersion=0&labelSelector=of%21%3Down`), events: [] },
    { asked: get(`${LISTS}/configmaps?facets=namespace`, live), events: ['event: page'] },
    { asked: get(`${LISTS}/configmaps?live=page`, live), events: ['event: page'] },
    {
      asked: get(`${LISTS}/configmaps?namespaces=${DELETED},${CREATED[0]},${OWN}`, live),
      events: ['event: page'],
    },
    ...['namespaces', 'services'].map((kind) => ({ asked: get(`${LISTS}/${kind}`, live), events: [] })),
    { asked: get(`${LOGS}?follow=true`), events: [] },
  ];
}

interface Received {
  /** Status, headers and body. */
  readonly parts: readonly string[];
  readonly tag: string | undefined;
  readonly body: string;
}

function isOK({ parts: [status] }: Received): boolean {
  return status === '200';
}

function inNamespace(path: string, name: string): string {
  return path.replace('/NS', name && `/namespaces/${name}`);
}

/** The requests of the tenant. `shop`: its second namespace. `foreignUid`: of an object that it may not read. */
function requestsOf(shop: string, foreignUid: string): readonly Asked[] {
  const names = [OWN, shop, DELETED, CREATED[0], UNKNOWN];
  const sets = [
    `${OWN},${DELETED}`,
    `${OWN},${CREATED[0]},${UNKNOWN}`,
    CREATED.join(),
    `${DELETED},${UNKNOWN}`,
  ];
  const keys = ['name', 'namespace', 'creationTimestamp', 'age', 'status', 'Size', 'nothing'];
  const facets = 'facets=status,namespace,ownerKind,label:of';
  const filters = [
    ...[
      '',
      'limit=2',
      'limit=2&page=2',
      'limit=0',
      'page=99&limit=1',
      'columns=true',
      'q=cart',
      'q=foreign',
      'q=own',
    ],
    ...[
      facets,
      'facets=label:key-50',
      'name=cart',
      'names=cart-0,cart-50',
      'limit=-2',
      'limit=1&limit=2',
      'unknown=1',
    ],
    ...keys.flatMap((key) => [`sortBy=${key}&limit=3`, `sortBy=${key}&ascending=true&columns=true`]),
    ...sets.map((set) => `namespaces=${set}&facets=namespace`),
    ...names.flatMap((name) => [`namespace=${name}`, `fieldSelector=metadata.namespace%3D${name}`]),
    ...[
      'labelSelector=app%3Dcart',
      'labelSelector=key-50',
      'label=of%21%3Down',
      'labelSelector=%28',
      'annotation=a',
    ],
    ...[
      `uid=${foreignUid}`,
      'ownerKind=ReplicaSet',
      'status=Running,Ready',
      'serviceName=cart-1',
      'live=page',
    ],
    ...['metadata.name%3Dcart-1', 'spec.color%3Dred', 'status.phase%3DRunning'].map(
      (each) => `fieldSelector=${each}`,
    ),
  ];
  const options = [
    ...[
      '',
      'resourceVersion=0',
      'limit=1',
      'limit=1&resourceVersion=0',
      'labelSelector=key-50',
      'resourceVersion=a',
    ],
    ...[
      'labelSelector=of%21%3Down',
      'fieldSelector=metadata.name%3Dcart-1',
      'fieldSelector=spec.color%3Dred',
    ].map((selector) => `resourceVersion=0&${selector}`),
    ...['limit=1&continue=a', 'unknown=1', 'resourceVersion=0&resourceVersionMatch=Exact'],
  ];
  const logFilters = [
    ...[
      '',
      'namespace_query=own',
      'namespace_query=foreign',
      'pods=cart-1',
      'pod_query=cart',
      'workloads=cart',
    ],
    ...[
      'log_query=a',
      'level=error',
      'match=regex&log_query=.',
      'match=regex&log_query=%28',
      'size=3&sort=asc',
    ],
    ...[
      'severity=true&highlight=true',
      'context=WyIyMDI2',
      'cursor=a',
      ...[...sets, ...names].map((set) => `namespaces=${set}`),
    ],
  ];
  const range = 'start_time=1700000000&end_time=1900000000&interval=30d';
  return [
    ...Object.keys(KINDS).flatMap((kind) => [
      ...filters.map((query) => get(`${LISTS}/${kind}?${query}`)),
      ...names.flatMap((name) => {
        const list = `${LISTS}/namespaces/${name}/${kind}`;
        const paths = [
          '',
          '?facets=namespace&columns=true',
          '?namespaces=own',
          '?serviceName=cart-1',
          '/cart-1',
          '/cart-50',
        ];
        return [...paths.map((path) => get(`${list}${path}`)), { ...get(list), method: 'HEAD' } as const];
      }),
      get(`${LISTS}/${kind}`, { 'accept-encoding': 'gzip' }),
      ...['q=cart', 'q=foreign&limit=1'].map((query) => get(`${LISTS}/search?kinds=${kind}&${query}`)),
    ]),
    ...Object.values(KINDS).flatMap((kind) =>
      ['', ...names].flatMap((name) => {
        const path = inNamespace(kind, name);
        return [
          ...options.map((query) => get(`${path}?${query}`)),
          ...[TABLE, METADATA].map((accept) => get(`${path}?resourceVersion=0`, { accept })),
          ...['cart-1', 'cart-50'].map((object) => get(`${path}/${object}?resourceVersion=0`)),
          { ...get(path), method: 'HEAD' } as const,
        ];
      }),
    ),
    get(`${inNamespace(KINDS.pods, OWN)}?resourceVersion=99999999999`),
    ...names.flatMap((name) =>
      ['', '?resourceVersion=0', '/pods/cart-1/log', '/services/cart-1/proxy/'].map((path) =>
        get(`/api/v1/namespaces/${name}${path}`),
      ),
    ),
    ...names.map((name) => get(`${LISTS}/namespaces/${name}`)),
    ...[
      '',
      'sortBy=name',
      'limit=1',
      'q=own',
      'facets=status',
      `names=${DELETED}`,
      'labelSelector=app%3Dcart',
    ].map((query) => get(`${LISTS}/namespaces?${query}`)),
    ...[
      'search?q=cart',
      'search?q=foreign',
      'search',
      'search?q=a&kinds=pods,nothings',
      'nodes',
      'nodes/a',
    ].map((path) => get(`${LISTS}/${path}`)),
    ...['query', 'statistics', 'histogram', 'export'].flatMap((operation) =>
      logFilters.map((query) => get(`${LOGS}?operation=${operation}&${range}&${query}`)),
    ),
    ...['', '/v1'].map((path) => get(`/api${path}`)),
    ...[
      '',
      `/${GROUP}/v1`,
      '/resources.platform.io/v1alpha3',
      '/resources.platform.io/v1alpha3/nodes',
      '/nothing',
    ].map((path) => get(`/apis${path}`)),
    ...[
      '/openapi/v2',
      '/openapi/v3',
      '/version',
      '/kapis',
      '/kapis/nothing',
      '/metrics',
      '/livez',
      '/readyz',
    ].map((path) => get(path)),
  ];
}

describe('namespaces that a tenant may not read', () => {
  let gateway: GatewayPlatform;
  let token: string;
  let shop: string;
  let asked: readonly Asked[];
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });

  before(async () => {
    gateway = await sharedGateway();
    shop = gateway.pod.namespace;
    const { platform } = gateway;
    const selectableFields = [{ jsonPath: '.spec.color' }];
    const additionalPrinterColumns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }];
    const versions = [version('v1', { additionalPrinterColumns, selectableFields })];
    await create(
      CRDS,
      definitionOf({ group: GROUP, plural: 'things', kind: 'Thing', scope: 'Namespaced', versions }),
    );
    await create(ROLES, {
      metadata: { name: 'view-things', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
      rules: [{ apiGroups: [GROUP], resources: ['things'], verbs: ['get', 'list', 'watch'] }],
    });
    await platform.succeeding(`wait --for=condition=Established crd/${THINGS}`);
    for (const name of [OWN, DELETED]) await fill(name, 4);
    await create(`/api/v1/namespaces/${OWN}/serviceaccounts`, { metadata: { name: 'tenant' } });
    for (const name of [OWN, shop]) await platform.bind('view', `--serviceaccount=${OWN}:tenant`, name);
    token = await gateway.serviceAccountToken(OWN, 'tenant');
    const admin = await gateway.signIn('ada');
    for (const [kind, path] of [['namespaces', '/api/v1/namespaces'], ...FOLLOWED] as const) {
      const [followed, listed] = [
        get(`${inNamespace(path, '')}?resourceVersion=0`),
        get(`${LISTS}/${kind}?limit=1`),
      ];
      await untilReceived(followed, ({ parts }) => parts.some((part) => part.includes('; hit')), admin);
      await untilReceived(listed, isOK, admin);
    }
    await untilReceived(get(`${LISTS}/configmaps?namespaces=${shop}`), isOK);
    await untilReceived(get(inNamespace(KINDS[THINGS] ?? '', OWN)), isOK);
    const deleted = await platform.controlPlane.client.get(`/api/v1/namespaces/${DELETED}`);
    asked = requestsOf(shop, text(recordIn(record(deleted), 'metadata')['uid']));
  });

  after(async () => {
    agent.destroy();
    const { client } = gateway.platform.controlPlane;
    const names = [OWN, DELETED, ...CREATED].map((name) => `/api/v1/namespaces/${name}`);
    for (const path of [...names, `${CRDS}/${THINGS}`, `${ROLES}/view-things`])
      await client.send(path, { method: 'DELETE' });
    await gateway.platform.kubectl(`delete rolebinding -n ${shop} view-serviceaccount-${OWN}-tenant`);
  });

  /** Repeats the request until its response is the expected one. */
  async function untilReceived(
    each: Asked,
    isExpected: (received: Received) => boolean,
    credential = token,
  ): Promise<void> {
    let received: Received | undefined;
    await until(
      async () => {
        received = await send(each, credential);
        return isExpected(received);
      },
      () => [each.path, received?.parts.map((part) => part.slice(0, 200))],
    );
  }

  async function create(path: string, body: object): Promise<void> {
    await gateway.platform.controlPlane.client.expect(path, { method: 'POST', body }, [201]);
  }

  /** Creates a namespace with objects that look like those of the tenant. `configMaps`: their number, and that of other kinds up to 10. */
  async function fill(
    namespace: string,
    configMaps: number,
    spec: object = { size: 1, color: 'red' },
  ): Promise<void> {
    await create('/api/v1/namespaces', { metadata: { name: namespace, labels: { app: 'cart' } } });
    const { signal } = gateway.platform;
    const at = (kind: keyof typeof KINDS): string => inNamespace(KINDS[kind] ?? '', namespace);
    await forEach(Array.from({ length: configMaps }, (_, i) => i).values(), { signal }, async (i) => {
      const metadata = { name: `cart-${i}`, labels: { app: 'cart', of: namespace, [`key-${i}`]: '' } };
      await create(at('configmaps'), { metadata, data: { large: 'x'.repeat(i === 0 ? 900_000 : 10) } });
      if (i >= 10) return;
      await create(at(THINGS), { apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata, spec });
      await create(at('services'), { metadata, spec: { selector: { app: 'cart' }, ports: [{ port: 80 }] } });
      const template = { metadata, spec: { containers: [{ name: 'cart', image: 'cart' }] } };
      await create(at('deployments'), {
        metadata,
        spec: { selector: { matchLabels: { app: 'cart' } }, template },
      });
      await create(at('events'), { metadata, involvedObject: { kind: 'Pod', namespace, name: `cart-${i}` } });
    });
  }

  async function open(
    { method, path, headers }: Asked,
    credential = token,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const { port, ca } = gateway.target('gateway');
    const all = { accept: 'application/json', ...headers, authorization: `Bearer ${credential}` };
    const sent = request({
      host: '127.0.0.1',
      port,
      ca,
      servername: 'localhost',
      agent,
      method,
      path,
      headers: all,
      ...(signal ? { signal } : {}),
    });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }

  async function send(each: Asked, credential = token): Promise<Received> {
    const response = await open(each, credential, AbortSignal.timeout(RESPONSE_MS));
    const { statusCode, rawHeaders, headers } = response;
    const bytes = await buffer(response);
    const body = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
    const lines = rawHeaders.flatMap((name, i) => {
      const isShown = i % 2 === 0 && !Object.hasOwn(VARYING, name.toLowerCase());
      return isShown ? [comparable(`${name}: ${rawHeaders[i + 1]}`)] : [];
    });
    const status = String(statusCode);
    const parts = isCurrentRead(each.path)
      ? [status, valuesIn(comparable(body))]
      : [status, ...lines, comparable(body)];
    return { parts, tag: headers.etag, body };
  }

  /** Sends the requests in parallel, except exports, of which a caller may have few. */
  async function sendAll(requests: readonly Asked[]): Promise<readonly Received[]> {
    const received: Received[] = [];
    const { signal } = gateway.platform;
    const sendPart = (isExport: boolean, concurrency: number): Promise<void> => {
      const part = [...requests.entries()].filter(
        ([, { path }]) => path.includes('operation=export') === isExport,
      );
      return forEach(part.values(), { signal, concurrency }, async ([i, each]) => {
        received[i] = await send(each);
      });
    };
    await Promise.all([sendPart(false, 8), sendPart(true, 1)]);
    return received;
  }

  /** Creates, changes and deletes objects and namespaces. */
  async function changeForeign(): Promise<void> {
    const { client } = gateway.platform.controlPlane;
    const deleted = `/api/v1/namespaces/${DELETED}`;
    await client.expect(deleted, { method: 'DELETE' }, [200]);
    const [first, ...others] = CREATED;
    // Values that the columns and field selectors of the acceleration do not compute.
    await fill(first, 60, { size: 2 ** 60, color: 'x'.repeat(5_000) });
    for (const name of others) await fill(name, 60);
    const labels = { metadata: { labels: { app: 'other' } } };
    const patch = { method: 'PATCH', contentType: 'application/merge-patch+json', body: labels } as const;
    await client.expect(`${inNamespace(KINDS.configmaps, first)}/cart-1`, patch, [200]);
    // The tenant becomes a candidate for the namespace, without a permission that matters.
    await gateway.platform.bind('system:discovery', `--serviceaccount=${OWN}:tenant`, first);
    await until(async () => (await client.send(deleted)).status === 404);
  }

  /** Opens a stream. Returns a function that returns the events which the stream has received since its beginning. */
  async function follow({ path, headers }: Asked): Promise<() => readonly string[]> {
    const response = await open(get(path, headers));
    expect(response.statusCode, path).to.equal(200);
    let seen = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk;
    });
    response.on('error', () => undefined);
    const events = (): readonly string[] => seen.match(/^(?:\{"type":"\w+"|event: .*|\{"log":.*)/gm) ?? [];
    await untilSteady(() => seen.length);
    const { length } = events();
    return () => events().slice(length);
  }

  it('change no response to it, and are in no stream', async () => {
    const before = await sendAll(asked);
    const streams = await Promise.all(streamsOf().map(({ asked: each }) => follow(each)));
    const some = asked.filter((_, i) => i % 4 === 0);
    const [during] = await Promise.all([sendAll(some), changeForeign()]);
    const after = await sendAll(asked);
    expect(asked.flatMap((each, i) => differences(each, before[i], after[i]))).to.deep.equal([]);
    expect(some.flatMap((each, i) => differences(each, before[i * 4], during[i]))).to.deep.equal([]);
    const known = asked.flatMap(({ path }, i) => {
      const { tag } = before[i] ?? {};
      return tag === undefined || !path.startsWith('/kapis') ? [] : [get(path, { 'if-none-match': tag })];
    });
    expect(new Set((await sendAll(known)).map(({ parts: [status] }) => status))).to.deep.equal(
      new Set(['304']),
    );
    const labels = { metadata: { labels: { end: 'yes' } } };
    const patch = { method: 'PATCH', contentType: 'application/merge-patch+json', body: labels } as const;
    const own = `${inNamespace(KINDS.configmaps, OWN)}/cart-1`;
    await gateway.platform.controlPlane.client.expect(own, patch, [200]);
    const expected = streamsOf().map(({ events }) => events);
    await until(() => streams.every((events, i) => events().length >= (expected[i]?.length ?? 0)));
    expect(streams.map((events) => events())).to.deep.equal(expected);
  });
});

/** Returns the request with the differences of its responses, shortened. */
function differences(
  { method, path, headers }: Asked,
  one: Received | undefined,
  other: Received | undefined,
): readonly object[] {
  const [first, second] = [one?.parts ?? [], other?.parts ?? []];
  if (first.join('\n') === second.join('\n')) return [];
  const at = (parts: readonly string[], than: readonly string[]): readonly string[] =>
    parts.filter((part, i) => part !== than[i]).map((part) => part.slice(0, 500));
  return [{ method, path, headers, one: at(first, second), other: at(second, first) }];
}
