// Requests that differences.test.ts sends to kube-apiserver and through the gateway. `side-x` in a request is replaced by a
// name of the same length for each side, so that both sides write objects of their own.
import type { Pod } from './interactive-pods.ts';

type Caller = 'admin' | 'nobody' | 'invalid' | 'anonymous';

export interface ComparedRequest {
  /** The request line and headers, without Host, Authorization and Content-Length. */
  readonly lines: readonly string[];
  readonly body?: string | Buffer;
  /** `admin` by default. */
  readonly caller?: Caller;
}

const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
/** Parameters of a watch that begins with the current objects. */
const INITIAL = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const MEDIA_TYPES = [
  JSON_TYPE,
  'application/yaml',
  PROTOBUF,
  `${PROTOBUF}, ${JSON_TYPE}`,
  'application/cbor',
  'application/cbor;q=0.9, application/json;q=0.1',
  TABLE,
  `${PROTOBUF};as=Table;v=v1;g=meta.k8s.io`,
  METADATA,
  METADATA_LIST,
  '*/*',
  'text/html',
  'image/png',
];
const DISCOVERY_TYPES = [
  JSON_TYPE,
  PROTOBUF,
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  `${PROTOBUF};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json`,
  'application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList',
  '*/*',
];

/** Headers of content negotiation. */
const NEGOTIATION = [
  'Accept: ',
  'Accept: application/json;q=0',
  'Accept: application/json;pretty=1',
  'Accept: application/json;indent=4',
  'Accept: application/json; charset=utf-8',
  'Accept: application/*',
  'Accept: *',
  'Accept: application/json;q=0.5, application/yaml',
  'Accept: application/json;q=0.5, application/cbor',
  `Accept: ${METADATA}, ${JSON_TYPE}`,
  'Accept: text/html,application/json;q=0.9',
  'Accept: invalid',
  'Accept: application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io',
  'Accept: application/json;as=PartialObjectMetadataList;v=v9;g=meta.k8s.io,application/json',
  'Accept-Encoding: gzip',
  'Accept-Encoding: identity;q=0',
  'Range: bytes=0-1',
];

const get = (target: string, ...headers: string[]): ComparedRequest => ({
  lines: [`GET ${target} HTTP/1.1`, ...headers],
});

const write = (
  method: string,
  target: string,
  body: object | string = '',
  type = JSON_TYPE,
  ...headers: string[]
): ComparedRequest => ({
  lines: [`${method} ${target} HTTP/1.1`, ...(type === '' ? [] : [`Content-Type: ${type}`]), ...headers],
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const QUERIES = [
  ...['limit=1', 'limit=-1', 'limit=x', 'limit=1&limit=2', 'limit=1&continue=bad'],
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0',
  ...['labelSelector=app%3Dcart', 'labelSelector=app+in+(cart)'],
  ...['fieldSelector=metadata.name%3Dnone', 'fieldSelector=spec.unknown%3D1'],
  ...['resourceVersion=0', 'resourceVersion=x', 'resourceVersion=999999999'],
  ...['0', '1'].map((version) => `resourceVersion=${version}&resourceVersionMatch=Exact`),
  ...['sendInitialEvents=true', 'timeoutSeconds=x', 'pretty=true', 'watch=x&timeoutSeconds=1', 'unknown=1'],
];

/** Reads of objects in all representations. */
export function reads({ namespace, name }: Pod): ComparedRequest[] {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const targets = [
    pods,
    `${pods}/${name}`,
    '/api/v1/namespaces/kube-system',
    '/api/v1/namespaces/default/services',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/view',
    '/apis/apiregistration.k8s.io/v1/apiservices/v1.apps',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/users.iam.platform.io',
    '/apis/apps/v1/namespaces/none/deployments',
  ];
  return [
    ...targets.flatMap((target) => MEDIA_TYPES.map((type) => get(target, `Accept: ${type}`))),
    ...QUERIES.map((query) => get(`${pods}?${query}`)),
    get(`${pods}/${name}/log`),
    get(`${pods}/${name}/log?tailLines=1`),
    get(`${pods}/${name}/log?container=none`),
    get(`${pods}/none/log`),
    get(`${pods}/${name}/status`),
    get(`${pods}/${name}/ephemeralcontainers`),
    get(`${pods}/${name}/eviction`),
    get(`${pods}/${name}/exec?command=true`),
    get(`/api/v1/namespaces/${namespace}/services/none/proxy/`),
    get('/api/v1/namespaces/default/services/https:kubernetes:443/proxy/version'),
    get('/api/v1/nodes/none/proxy/metrics'),
  ];
}

/** Lists of all namespaces, after which the acceleration has the kinds of `cachedReads` and `watches`. */
export const CACHED_LISTS = [
  '/api/v1/pods',
  '/api/v1/configmaps',
  '/api/v1/endpoints',
  '/api/v1/namespaces',
  '/api/v1/services',
  '/apis/apps/v1/deployments',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/compared.example.com/v1/widgets',
];

/** Reads that the acceleration can serve. `widgets`: a custom resource with the object `first`. */
export function cachedReads({ namespace, name }: Pod): ComparedRequest[] {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const widgets = '/apis/compared.example.com/v1/namespaces/default/widgets';
  const targets = [
    pods,
    `${pods}/${name}`,
    '/api/v1/namespaces/kube-system',
    '/api/v1/namespaces/none',
    '/api/v1/namespaces/default/services',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/users.iam.platform.io',
    '/apis/apps/v1/namespaces/none/deployments',
    widgets,
    `${widgets}/first`,
  ];
  return [
    ...targets.flatMap((target) =>
      MEDIA_TYPES.map((type) => get(`${target}?resourceVersion=0`, `Accept: ${type}`)),
    ),
    ...QUERIES.filter((query) => !/resourceVersion=|continue=eyJ/.test(query)).map((query) =>
      get(`${pods}?resourceVersion=0&${query}`),
    ),
    ...[
      'resourceVersion=1',
      'resourceVersion=1&resourceVersionMatch=NotOlderThan',
      'resourceVersion=0&limit=1&resourceVersionMatch=NotOlderThan',
      'resourceVersion=0&labelSelector=app',
      'resourceVersion=0&labelSelector=!none,app.kubernetes.io/name+notin+(none)',
      'resourceVersion=0&fieldSelector=status.phase!%3DRunning',
      'resourceVersion=0&fieldSelector=spec.nodeName%3Dnode-00001,metadata.namespace%3Dshop',
      `resourceVersion=0&fieldSelector=metadata.name%3D${name}`,
      'resourceVersion=0&labelSelector=&fieldSelector=',
      'resourceVersion=0&includeObject=None',
      'resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=1&watch=false',
    ].map((query) => get(`${pods}?${query}`, `Accept: ${JSON_TYPE}`)),
    get(`${widgets}?resourceVersion=0&labelSelector=none`, `Accept: ${JSON_TYPE}`),
    get(`${widgets}?resourceVersion=0&fieldSelector=spec.size%3D1`, `Accept: ${JSON_TYPE}`),
    get(`${pods}/${name}?resourceVersion=1`),
    get(`${pods}/none?resourceVersion=0`),
    get(`${pods}?resourceVersion=0`, 'User-Agent: curl/8.5.0'),
    ...[...NEGOTIATION, 'If-None-Match: *', 'Impersonate-User: jane'].map((line) =>
      get(`${pods}?resourceVersion=0`, line),
    ),
    get(`${pods}?resourceVersion=0`, `Accept: ${TABLE}`, `Accept: ${JSON_TYPE}`),
    get(`${pods}/${name}?resourceVersion=0`, `Accept: ${METADATA_LIST}, ${JSON_TYPE}`),
    ...['gzip', 'gzip;q=0.5'].map((encoding) =>
      get(
        '/api/v1/namespaces/busy/configmaps?resourceVersion=0&fieldSelector=metadata.name%3Dlarge',
        `Accept-Encoding: ${encoding}`,
      ),
    ),
    get('/api/v1/namespaces/default/endpoints?resourceVersion=0'),
    ...(['nobody', 'invalid', 'anonymous'] as const).map((caller) => ({
      ...get(`${pods}?resourceVersion=0`),
      caller,
    })),
  ];
}

/** Long enough for the first events of both sides on a busy machine. */
const WATCH_SECONDS = 4;

export function watches(): ComparedRequest[] {
  const none = '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Dkube-root-ca.crt';
  return [
    ...[JSON_TYPE, `${PROTOBUF};stream=watch`, TABLE, 'application/cbor-seq', 'image/png'].map((type) =>
      get(`${none}&watch=1&timeoutSeconds=${WATCH_SECONDS}`, `Accept: ${type}`),
    ),
    get(`${none}&watch=true&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=0`),
    get(`${none}&watch=true&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=1`),
    get(`${none}&watch=true&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=x`),
    get(`${none}&watch=true&timeoutSeconds=${WATCH_SECONDS}&limit=1`),
    get(`${none}&watch=true&timeoutSeconds=${WATCH_SECONDS}&sendInitialEvents=true`),
    ...[JSON_TYPE, METADATA, `${TABLE},${JSON_TYPE}`].flatMap((type) =>
      ['resourceVersion=0', `resourceVersion=0&${INITIAL}`, INITIAL].map((query) =>
        get(`${none}&watch=true&timeoutSeconds=${WATCH_SECONDS}&${query}`, `Accept: ${type}`),
      ),
    ),
    get(`/api/v1/watch/namespaces/default/configmaps/kube-root-ca.crt?timeoutSeconds=${WATCH_SECONDS}`),
    { ...get(`${none}&watch=true&timeoutSeconds=${WATCH_SECONDS}`), caller: 'nobody' },
  ];
}

/** Discovery, OpenAPI and version. */
export function discovery(): ComparedRequest[] {
  const targets = ['/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1', '/apis/none', '/version'];
  return [
    ...targets.flatMap((target) => DISCOVERY_TYPES.map((type) => get(target, `Accept: ${type}`))),
    ...['/apis', '/api/v1', '/openapi/v3', '/openapi/v3/api/v1', '/version'].flatMap((target) => [
      get(target, 'Accept-Encoding: gzip'),
      get(target, 'If-None-Match: "none"'),
      get(target, 'If-None-Match: *'),
    ]),
    get('/openapi/v2', 'Accept: application/json'),
    get('/openapi/v2', 'Accept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf'),
    get('/openapi/v2', 'Accept: image/png'),
    get('/openapi/v3/api/v1', 'Accept: application/com.github.proto-openapi.spec.v3.v1.0+protobuf'),
    get('/openapi/v3/api/v1?hash=WRONG'),
    get('/openapi/v3/none'),
    get('/openapi/v2/'),
    get('/version?x=1'),
  ];
}

/** Writes on objects of each side, in this order. */
export function writes(): ComparedRequest[] {
  const namespace = '/api/v1/namespaces/side-x';
  const maps = `${namespace}/configmaps`;
  const deployments = '/apis/apps/v1/namespaces/side-x/deployments';
  const pods = `${namespace}/pods`;
  const configMap = (name: string, data: object = { a: '1' }, metadata: object = {}): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...metadata },
    data,
  });
  const container = { name: 'main', image: 'registry.local/main:1' };
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas: 0, selector: { matchLabels: { app: 'web' } }, template },
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'solo' },
    spec: { containers: [container], nodeName: 'none' },
  };
  const apply = 'application/apply-patch+yaml';
  const merge = 'application/merge-patch+json';
  const strategic = 'application/strategic-merge-patch+json';
  const json = 'application/json-patch+json';
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'solo' } };
  return [
    write('POST', '/api/v1/namespaces', { metadata: { name: 'side-x' } }),
    write('POST', '/api/v1/namespaces', { metadata: { name: 'side-x' } }),
    // Create and update.
    write('POST', maps, configMap('one')),
    write('POST', maps, configMap('one')),
    write('POST', `${maps}?dryRun=All`, configMap('two')),
    write('POST', `${maps}?fieldManager=me&fieldValidation=Strict`, { ...configMap('two'), unknown: 1 }),
    write('POST', `${maps}?fieldValidation=Warn`, { ...configMap('two'), unknown: 1, other: 2 }),
    write('POST', maps, configMap('three'), JSON_TYPE, `Accept: ${TABLE}`),
    write('POST', maps, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: four}\n', 'application/yaml'),
    write('PUT', `${maps}/one`, configMap('one', { a: '2' })),
    write('PUT', `${maps}/one`, configMap('one', {}, { resourceVersion: '1' })),
    write('PUT', `${maps}/made`, configMap('made')),
    // Patches.
    write('PATCH', `${maps}/one`, { data: { b: '1' } }, merge),
    write('PATCH', `${maps}/one`, { data: { c: '1' } }, strategic),
    write('PATCH', `${maps}/one`, [{ op: 'add', path: '/data/d', value: '1' }], json),
    write('PATCH', `${maps}/one`, [{ op: 'test', path: '/data/d', value: '2' }], json),
    write('PATCH', `${maps}/one`, '[', json),
    write('PATCH', `${maps}/one`, { data: {} }),
    write('PATCH', `${maps}/applied?fieldManager=me`, configMap('applied'), apply),
    write('PATCH', `${maps}/applied?fieldManager=you`, configMap('applied', { a: '2' }), apply),
    write('PATCH', `${maps}/applied?fieldManager=you&force=true`, configMap('applied', { a: '2' }), apply),
    // Subresources.
    write('POST', deployments, deployment),
    write('GET', `${deployments}/web/scale`, '', ''),
    write('PATCH', `${deployments}/web/scale`, { spec: { replicas: 0 } }, merge),
    write('PUT', `${deployments}/web/status`, '{}'),
    write('POST', `${pods}?dryRun=All`, pod, JSON_TYPE, `Accept: ${TABLE}`),
    write('POST', `${pods}/none/eviction`, eviction),
    write('POST', `${namespace}/serviceaccounts/none/token`, {}),
    // Reviews.
    {
      ...write('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
      }),
      caller: 'nobody',
    },
    // Deletes.
    write('DELETE', `${maps}/two`, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'x' } }),
    write('DELETE', `${maps}/two`, { gracePeriodSeconds: 0, propagationPolicy: 'Background' }),
    write('DELETE', `${maps}/two`, '', ''),
    write('DELETE', `${maps}/three?propagationPolicy=Other`, '', ''),
    write('DELETE', `${maps}/three`, '', '', `Accept: ${TABLE}`),
    write('DELETE', `${maps}?labelSelector==`, '', ''),
    write('DELETE', `${maps}?fieldSelector=metadata.name%3Dfour`, '', ''),
    write('DELETE', namespace, '', '', 'Accept: application/vnd.kubernetes.none'),
  ];
}

/** Requests for a web application, see web-backend.ts. */
export function proxied(path: string): ComparedRequest[] {
  const paths = [
    '/page',
    '/json',
    '/untyped',
    '/twice',
    '/redirect',
    '//a//b',
    '/a%2Fb',
    '/a?b=c;d&%zz',
    '/..%2Fa',
    '',
  ];
  return paths.map((rest) => get(`${path}${rest}`, 'Accept: text/html', 'Cookie: theme=dark'));
}

/** Errors, in the order of their status codes. */
export function errors(): ComparedRequest[] {
  const maps = '/api/v1/namespaces/default/configmaps';
  const targets = ['/api/v1/pods', '/openapi/v2', '/version', `${maps}/none`];
  const as = (caller: Caller, request: ComparedRequest): ComparedRequest => ({ ...request, caller });
  const mapOf = (bytes: number): string =>
    JSON.stringify({ metadata: { name: 'large' }, data: { a: 'x'.repeat(bytes) } });
  return [
    write('POST', maps, '{'),
    write('POST', maps, ''),
    write('POST', maps, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }),
    write('POST', maps, { metadata: {} }),
    write('PUT', `${maps}/none?dryRun=All`, '\u0000'),
    write('DELETE', `${maps}/none`, '{'),
    ...targets.flatMap((target) =>
      (['invalid', 'anonymous', 'nobody'] as const).map((caller) => as(caller, get(target))),
    ),
    ...['Basic YTpi', 'Bearer', 'Bearer ', 'bearer invalid', 'Bearer a b'].map((value) =>
      as('anonymous', get('/api/v1/pods', `Authorization: ${value}`)),
    ),
    as('anonymous', get('/api/v1/pods?access_token=a')),
    as('nobody', write('POST', maps, '{')),
    as('nobody', write('DELETE', maps, '', '')),
    get('/api/v1/none'),
    get(`${maps}/a/none`),
    write('POST', `${maps}/a`, '{}'),
    write('PATCH', maps, '{}', 'application/merge-patch+json'),
    write('DELETE', '/api/v1/namespaces', '', ''),
    write('POST', '/version', '{}'),
    write('POST', maps, mapOf(3_200_000)),
    write('POST', `${maps}?dryRun=All`, mapOf(1_100_000)),
    write('POST', maps, '{}', 'image/png'),
    write('POST', maps, '{}', ''),
    write('PATCH', `${maps}/a`, '{}', 'application/unknown-patch+json'),
    write('POST', maps, { metadata: { name: 'UPPER' } }),
  ];
}

/** Targets that a proxy could normalise. */
export function targets(): ComparedRequest[] {
  const namespaces = '/api/v1/namespaces';
  const services = `${namespaces}/default/services`;
  /** Of a namespace, as the client writes them. */
  const names = [
    ...['', '.', '%2e%2e', 'kube-system%2F', 'def%61ult', 'a%00b', 'a;b', 'a%25b', '%FF', '%zz', '\\default'],
    ...["a'b(c)", 'a|b^c`d{e}"f<g>', 'default#fragment', 'a'.repeat(2_000), `default?x=${'y'.repeat(8_000)}`],
  ];
  const paths = [
    ...['//api/v1/pods', `${namespaces}//default`, '/api/', '/apis/apps/'],
    ...['/api/v1/../v1/namespaces/default', '/api/%2e%2e/api/v1/namespaces/default'],
    ...[
      `${namespaces}%2Fdefault`,
      '/%61pi/v1/namespaces/default',
      '/apis/apps%2Fv1/deployments',
      '/API/v1/namespaces/default',
    ],
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Adiscovery',
    `${namespaces}/default/configmaps/${'a/'.repeat(1_000)}`,
    ...['/a//b', 'a%2Fb', '%2e%2e/a'].map((path) => `${services}/none/proxy/${path}`),
    `${services}/ht%74p:none:80/proxy/a`,
    `${namespaces}/default/pods/none/proxy/a?b=c;d`,
  ];
  const queries = [
    ...['', '&', '&&limit=1', 'limit', 'watch=false;', 'limit=%zz', 'li%6Dit=1', 'limit=1#a', 'timeout=x'],
    ...['labelSelector=a%3Db%2Cc%21%3Dd', 'labelSelector=a=b', 'pretty=%00', 'a[]=1&b{}=2'],
    'limit=1&watch=0&watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dnone',
  ];
  return [
    ...names.map((name) => get(`${namespaces}/${name}`)),
    ...paths.map((path) => get(path)),
    ...queries.map((query) => get(`${namespaces}/default/configmaps?${query}`)),
  ];
}

const METHODS = ['HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'PURGE', 'QUERY', 'get', 'FOO', 'G-ET'];

export function methods(): ComparedRequest[] {
  return [
    ...['/api/v1/namespaces/default', '/api', '/openapi/v2', '/version', '/api/v1/none'].flatMap((target) =>
      METHODS.map((method) => ({ lines: [`${method} ${target} HTTP/1.1`] })),
    ),
    { lines: ['GET /version HTTP/1.0'] },
    { lines: ['GET /api/v1/namespaces/default HTTP/1.0'] },
    { lines: ['GET /version HTTP/2.0'] },
    { lines: ['GET /version HTTP/1.2'] },
    { lines: ['GET /version'] },
    { lines: ['OPTIONS * HTTP/1.1'] },
  ];
}

/** Headers that a proxy could change, and that must not change the response. */
export function headers(): ComparedRequest[] {
  const target = '/api/v1/namespaces/default';
  const one = [
    ...['11111111-2222-3333-4444-555555555555', 'not valid!', 'a'.repeat(100)].map((id) => `Audit-ID: ${id}`),
    ...['User: jane', 'User: ', 'Group: a', 'Uid: 1', 'Extra-a%2fb: c'].map((line) => `Impersonate-${line}`),
    ...['X-Remote-User: jane', 'Origin: https://other.example', 'Cookie: a=b', 'User-Agent: '],
    ...[
      'Connection: keep-alive',
      'Connection: close, X-Unknown',
      'Proxy-Connection: keep-alive',
      'TE: trailers',
    ],
    ...['Expect: 100-continue', 'Expect: other', 'Upgrade: websocket', 'Upgrade: h2c'],
    ...['Content-Length: 0', 'Transfer-Encoding: chunked', 'X-HTTP-Method-Override: DELETE'],
    'Sec-WebSocket-Protocol: v4.channel.k8s.io',
    ...NEGOTIATION,
  ];
  return [
    ...one.map((line) => ({
      ...get(target, line),
      ...(line.startsWith('Transfer-Encoding') ? { body: '0\r\n\r\n' } : {}),
    })),
    get(target, 'Accept: application/json', 'Accept: application/yaml'),
    ...['websocket', 'SPDY/3.1', 'h2c'].map((protocol) =>
      get(target, 'Connection: Upgrade', `Upgrade: ${protocol}`),
    ),
    get(target, 'X-Unknown: ü', `X-Long: ${'a'.repeat(10_000)}`),
    get(target, ...Array.from({ length: 200 }, (_, i) => `X-Unknown-${i}: ${i}`)),
    get('/api/v1/namespaces?limit=500', 'Accept-Encoding: gzip'),
    get('/apis/rbac.authorization.k8s.io/v1/clusterroles', 'Accept-Encoding: gzip'),
  ];
}
