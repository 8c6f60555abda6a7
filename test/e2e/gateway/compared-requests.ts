// Requests that differences.ts sends to kube-apiserver and through the gateway. `side-x` in a request is replaced by a
// name of the same length for each side, so that both sides write objects of their own.
import type { Pod } from './interactive-pods.ts';

export type Caller = 'admin' | 'nobody' | 'invalid' | 'anonymous';

export interface ComparedRequest {
  /** The request line and headers, without Host, Authorization and Content-Length. */
  readonly lines: readonly string[];
  readonly body?: string | Buffer;
  /** `admin` by default. */
  readonly caller?: Caller;
}

const JSON_TYPE = 'application/json';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
/** Parameters of a watch that begins with the current objects. */
const INITIAL = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const MEDIA_TYPES = [
  JSON_TYPE,
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf, application/json',
  'application/cbor',
  'application/cbor;q=0.9, application/json;q=0.1',
  TABLE,
  'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io',
  METADATA,
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  '*/*',
  'text/html',
  'image/png',
];
const DISCOVERY_TYPES = [
  JSON_TYPE,
  'application/vnd.kubernetes.protobuf',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json',
  'application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList',
  '*/*',
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
  'limit=1',
  'limit=0',
  'limit=-1',
  'limit=x',
  'limit=1&continue=bad',
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0',
  'labelSelector=app%3Dcart',
  'labelSelector=app+in+(cart)',
  'labelSelector=%3D%3D',
  'fieldSelector=metadata.name%3Dnone',
  'fieldSelector=spec.unknown%3D1',
  'resourceVersion=0',
  'resourceVersion=0&resourceVersionMatch=Exact',
  'resourceVersionMatch=NotOlderThan',
  'resourceVersion=x',
  'resourceVersion=999999999',
  'resourceVersion=1&resourceVersionMatch=Exact',
  'sendInitialEvents=true',
  'timeoutSeconds=x',
  'pretty=true',
  'pretty=1&limit=1',
  'watch=x&timeoutSeconds=1',
  'unknown=1',
  'limit=1&limit=2',
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
    ...[
      'Accept: ',
      'Accept: application/json;q=0',
      'Accept: application/json;pretty=1',
      'Accept: application/json;indent=4',
      'Accept: application/json; charset=utf-8',
      'Accept: application/*',
      'Accept: text/html,application/json;q=0.9',
      'Accept: invalid',
      'Accept: application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io',
      'Accept: application/json;as=PartialObjectMetadataList;v=v9;g=meta.k8s.io,application/json',
      'Accept-Encoding: gzip',
      'Accept-Encoding: identity;q=0',
      'Range: bytes=0-1',
      'If-None-Match: *',
      'Impersonate-User: jane',
    ].map((line) => get(`${pods}?resourceVersion=0`, line)),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?resourceVersion=0', 'Accept-Encoding: gzip'),
    get('/api/v1/namespaces/default/endpoints?resourceVersion=0'),
    ...(['nobody', 'invalid', 'anonymous'] as const).map((caller) => ({
      ...get(`${pods}?resourceVersion=0`),
      caller,
    })),
  ];
}

export function watches(): ComparedRequest[] {
  const none = '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Dkube-root-ca.crt';
  return [
    ...[
      JSON_TYPE,
      'application/vnd.kubernetes.protobuf;stream=watch',
      TABLE,
      'application/cbor-seq',
      'image/png',
    ].map((type) => get(`${none}&watch=1&timeoutSeconds=1`, `Accept: ${type}`)),
    get(`${none}&watch=true&timeoutSeconds=1&resourceVersion=0`),
    get(`${none}&watch=true&timeoutSeconds=1&resourceVersion=1`),
    get(`${none}&watch=true&timeoutSeconds=1&resourceVersion=x`),
    get(`${none}&watch=true&timeoutSeconds=1&limit=1`),
    get(`${none}&watch=true&timeoutSeconds=1&sendInitialEvents=true`),
    ...[JSON_TYPE, METADATA, `${TABLE},${JSON_TYPE}`].flatMap((type) =>
      ['resourceVersion=0', `resourceVersion=0&${INITIAL}`, INITIAL].map((query) =>
        get(`${none}&watch=true&timeoutSeconds=1&${query}`, `Accept: ${type}`),
      ),
    ),
    get('/api/v1/watch/namespaces/default/configmaps/kube-root-ca.crt?timeoutSeconds=1'),
    { ...get(`${none}&watch=true&timeoutSeconds=1`), caller: 'nobody' },
  ];
}

/** Discovery, OpenAPI and version. */
export function discovery(): ComparedRequest[] {
  const targets = [
    '/api',
    '/apis',
    '/api/v1',
    '/apis/apps',
    '/apis/apps/v1',
    '/apis/none',
    '/apis/apps/v9',
    '/version',
  ];
  return [
    ...targets.flatMap((target) => DISCOVERY_TYPES.map((type) => get(target, `Accept: ${type}`))),
    ...[
      '/api',
      '/apis',
      '/api/v1',
      '/openapi/v3',
      '/openapi/v3/api/v1',
      '/openapi/v3/apis/apps/v1',
      '/version',
    ].flatMap((target) => [
      get(target, 'Accept-Encoding: gzip'),
      get(target, 'If-None-Match: "none"'),
      get(target, 'If-None-Match: *'),
    ]),
    get('/openapi/v2', 'Accept: application/json'),
    get('/openapi/v2', 'Accept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf'),
    get(
      '/openapi/v2',
      'Accept: application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
      'Accept-Encoding: gzip',
    ),
    get('/openapi/v2', 'Accept: image/png'),
    get('/openapi/v3/api/v1', 'Accept: application/com.github.proto-openapi.spec.v3.v1.0+protobuf'),
    get('/openapi/v3/api/v1?hash=WRONG'),
    get('/openapi/v3/none'),
    get('/openapi/v3/'),
    get('/openapi/v2/'),
    get('/openapi/v2?timeout=1s'),
    get('/version/'),
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
    write('POST', '/api/v1/namespaces?dryRun=All', { metadata: { name: 'side-x' } }),
    write('POST', '/api/v1/namespaces', { metadata: { name: 'side-x' } }),
    write('POST', '/api/v1/namespaces', { metadata: { name: 'side-x' } }),
    // Create and update.
    write('POST', maps, configMap('one')),
    write('POST', maps, configMap('one')),
    write('POST', `${maps}?dryRun=All`, configMap('two')),
    write('POST', `${maps}?dryRun=Some`, configMap('two')),
    write('POST', `${maps}?fieldManager=me&fieldValidation=Strict`, { ...configMap('two'), unknown: 1 }),
    write('POST', `${maps}?fieldValidation=Warn`, { ...configMap('two'), unknown: 1, other: 2 }),
    write('POST', `${maps}?fieldValidation=Ignore`, { ...configMap('three'), unknown: 1 }),
    write('POST', `${maps}?pretty=true`, configMap('four')),
    write('POST', maps, configMap('five'), JSON_TYPE, `Accept: ${TABLE}`),
    write(
      'POST',
      maps,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: six}\n',
      'application/yaml',
      'Accept: application/yaml',
    ),
    write('PUT', `${maps}/one`, configMap('one', { a: '2' })),
    write('PUT', `${maps}/one`, configMap('other')),
    write('PUT', `${maps}/one`, configMap('one', {}, { resourceVersion: '1' })),
    write('PUT', `${maps}/one`, configMap('one', {}, { uid: '00000000-0000-0000-0000-000000000000' })),
    write('PUT', `${maps}/none`, configMap('none', {}, { resourceVersion: '1' })),
    write('PUT', `${maps}/made`, configMap('made')),
    // Patches.
    write('PATCH', `${maps}/one`, { data: { b: '1' } }, merge),
    write('PATCH', `${maps}/one`, { data: { c: '1' } }, strategic),
    write('PATCH', `${maps}/one`, [{ op: 'add', path: '/data/d', value: '1' }], json),
    write('PATCH', `${maps}/one`, [{ op: 'test', path: '/data/d', value: '2' }], json),
    write('PATCH', `${maps}/one`, [{ op: 'remove', path: '/none/none' }], json),
    write('PATCH', `${maps}/one`, '[', json),
    write('PATCH', `${maps}/one`, { data: [] }, merge),
    write('PATCH', `${maps}/one?dryRun=All`, { data: { e: '1' } }, merge),
    write('PATCH', `${maps}/none`, { data: {} }, merge),
    write('PATCH', `${maps}/one`, { data: {} }),
    write('PATCH', `${maps}/one`, { metadata: { resourceVersion: '1' } }, merge),
    write('PATCH', `${maps}/applied?fieldManager=me`, configMap('applied'), apply),
    write('PATCH', `${maps}/applied?fieldManager=you`, configMap('applied', { a: '2' }), apply),
    write('PATCH', `${maps}/applied?fieldManager=you&force=true`, configMap('applied', { a: '2' }), apply),
    write('PATCH', `${maps}/applied`, configMap('applied'), apply),
    write('PATCH', `${maps}/applied?fieldManager=me`, 'a: [', apply),
    write('PATCH', `${maps}/applied?fieldManager=me&dryRun=All`, configMap('applied', {}), apply),
    // Subresources.
    write('POST', deployments, deployment),
    write('GET', `${deployments}/web/scale`, '', ''),
    write('PATCH', `${deployments}/web/scale`, { spec: { replicas: 0 } }, merge),
    write('PUT', `${deployments}/web/scale`, {
      metadata: { name: 'web', namespace: 'side-x' },
      spec: { replicas: -1 },
    }),
    write('POST', deployments, { ...deployment, spec: { template } }),
    write('PUT', `${deployments}/web/status`, '{}'),
    write('DELETE', `${deployments}/web`, '', ''),
    write('POST', pods, { ...pod, spec: { containers: [] } }),
    write('POST', `${pods}?dryRun=All`, pod, JSON_TYPE, `Accept: ${TABLE}`),
    write('POST', `${pods}/none/eviction`, eviction),
    write('POST', `${pods}/none/binding`, { target: { kind: 'Node', name: 'none' } }),
    write('POST', `${namespace}/serviceaccounts/none/token`, {}),
    write('PUT', `${namespace}/finalize`, '{}'),
    // Reviews.
    {
      ...write('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
      }),
      caller: 'nobody',
    },
    write('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'invalid' } }),
    // Deletes.
    write('DELETE', `${maps}/two?dryRun=All`, '', ''),
    write('DELETE', `${maps}/two`, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'x' } }),
    write('DELETE', `${maps}/two`, { gracePeriodSeconds: 0, propagationPolicy: 'Background' }),
    write('DELETE', `${maps}/two`, '', ''),
    write('DELETE', `${maps}/three?gracePeriodSeconds=x`, '', ''),
    write('DELETE', `${maps}/three?propagationPolicy=Other`, '', ''),
    write('DELETE', `${maps}/three`, '', '', `Accept: ${TABLE}`),
    write('DELETE', `${maps}?labelSelector=none%3D1`, '', ''),
    write('DELETE', `${maps}?labelSelector==`, '', ''),
    write('DELETE', `${maps}?dryRun=All&fieldSelector=metadata.name%3Dfour`, '', ''),
    write('DELETE', `${maps}?fieldSelector=metadata.name%3Dfour`, '', ''),
    write('DELETE', namespace, '', '', 'Accept: application/vnd.kubernetes.none'),
  ];
}

/** Requests for a web application, see web-backend.ts. */
export function proxied(path: string): ComparedRequest[] {
  return ['/page', '/json', '/untyped', '/redirect', '//a//b', '/a%2Fb', '/a?b=c;d&%zz', '/..%2Fa', ''].map(
    (rest) => get(`${path}${rest}`, 'Accept: text/html', 'Cookie: theme=dark'),
  );
}

/** Errors, in the order of their status codes. */
export function errors(): ComparedRequest[] {
  const maps = '/api/v1/namespaces/default/configmaps';
  const targets = ['/api/v1/pods', '/apis', '/openapi/v2', '/version', `${maps}/none`, '/apis/none/v1/none'];
  const as = (caller: Caller, request: ComparedRequest): ComparedRequest => ({ ...request, caller });
  const large = JSON.stringify({ metadata: { name: 'large' }, data: { a: 'x'.repeat(3_200_000) } });
  return [
    write('POST', maps, '{'),
    write('POST', maps, '[]'),
    write('POST', maps, ''),
    write('POST', maps, 'null'),
    write('POST', maps, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }),
    write('POST', maps, { metadata: { name: 'a', namespace: 'other' } }),
    write('POST', maps, { metadata: {} }),
    write('PUT', `${maps}/none?dryRun=All`, '\u0000'),
    write('DELETE', `${maps}/none`, '{'),
    ...targets.flatMap((target) => [
      as('invalid', get(target)),
      as('anonymous', get(target)),
      as('nobody', get(target)),
    ]),
    as('anonymous', get('/api/v1/pods', 'Authorization: Basic YTpi')),
    as('anonymous', get('/api/v1/pods', 'Authorization: Bearer')),
    as('anonymous', get('/api/v1/pods', 'Authorization: Bearer ')),
    as('anonymous', get('/api/v1/pods', 'Authorization: bearer invalid')),
    as('anonymous', get('/api/v1/pods', 'Authorization: Bearer a b')),
    as('anonymous', get('/api/v1/pods?access_token=a')),
    as('nobody', write('POST', maps, '{')),
    as('nobody', write('DELETE', maps, '', '')),
    as('nobody', write('PATCH', `${maps}/a`, '{}', 'application/merge-patch+json')),
    as('nobody', get('/api/v1/pods', 'Impersonate-User: admin')),
    get('/api/v1/namespaces/none'),
    get('/api/v1/none'),
    get(`${maps}/a/none`),
    get('/apis/apps/v1/namespaces/default/none/a'),
    write('POST', `${maps}/a`, '{}'),
    write('PUT', maps, '{}'),
    write('PATCH', maps, '{}', 'application/merge-patch+json'),
    write('DELETE', '/api/v1/namespaces', '', ''),
    write('POST', '/version', '{}'),
    write('PUT', '/apis', '{}'),
    write('POST', maps, large),
    write(
      'POST',
      `${maps}?dryRun=All`,
      JSON.stringify({ metadata: { name: 'b' }, data: { a: 'x'.repeat(1_100_000) } }),
    ),
    write('POST', maps, '{}', 'image/png'),
    write('POST', maps, '{}', 'application/json; charset=utf-8; x'),
    write('POST', maps, '{}', ''),
    write('PATCH', `${maps}/a`, '{}', 'application/unknown-patch+json'),
    write('POST', maps, { metadata: { name: 'UPPER' } }),
    write('POST', maps, { metadata: { name: 'a'.repeat(300) } }),
    write('POST', `${maps}?fieldManager=${'m'.repeat(200)}&dryRun=All`, { metadata: { name: 'a' } }),
  ];
}

/** Targets that a proxy could normalise. */
export function targets(): ComparedRequest[] {
  const paths = [
    '//api/v1/pods',
    '/api//v1/namespaces',
    '/api/v1//namespaces',
    '/api/v1/namespaces//default',
    '/api/v1/namespaces/default//configmaps',
    '/api/v1/namespaces/',
    '/api/v1/namespaces/default/',
    '/api/v1/',
    '/api/',
    '/apis/',
    '/apis/apps/',
    '/api/v1/./namespaces',
    '/api/v1/../v1/namespaces/default',
    '/api/v1/namespaces/..',
    '/api/v1/namespaces/.',
    '/api/%2e%2e/api/v1/namespaces/default',
    '/api/v1/namespaces/%2e%2e',
    '/api/v1/namespaces/kube-system%2F',
    '/api/v1/namespaces%2Fdefault',
    '/api/v1/namespaces/def%61ult',
    '/%61pi/v1/namespaces/default',
    '/api/v1/namespaces/a%00b',
    '/api/v1/namespaces/a%20b',
    '/api/v1/namespaces/a+b',
    '/api/v1/namespaces/a;b',
    '/api/v1/namespaces/a:b',
    '/api/v1/namespaces/a%25b',
    '/api/v1/namespaces/%C3%BC',
    '/api/v1/namespaces/%FF',
    '/api/v1/namespaces/%zz',
    '/api/v1/namespaces/%',
    '/api/v1/namespaces/\\default',
    "/api/v1/namespaces/a'b(c)",
    '/api/v1/namespaces/a|b^c`d{e}"f<g>',
    '/apis/%61pps/v1/deployments?limit=1',
    '/apis/apps%2Fv1/deployments',
    '/apis/APPS/v1/deployments',
    '/API/v1/namespaces/default',
    '/api/v1/Namespaces/default',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Adiscovery',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery',
    '/api/v1/namespaces/default#fragment',
    '/api/v1/namespaces/default/services/none/proxy//a//b',
    '/api/v1/namespaces/default/services/none/proxy/a%2Fb',
    '/api/v1/namespaces/default/services/none/proxy/../a',
    '/api/v1/namespaces/default/services/none/proxy/%2e%2e/a',
    '/api/v1/namespaces/default/services/none/proxy',
    '/api/v1/namespaces/default/services/ht%74p:none:80/proxy/a',
    '/api/v1/namespaces/default/pods/none/proxy/a?b=c;d',
    `/api/v1/namespaces/${'a'.repeat(2_000)}`,
    `/api/v1/namespaces/default/configmaps/${'a/'.repeat(1_000)}`,
    `/api/v1/namespaces/default?x=${'y'.repeat(8_000)}`,
  ];
  const queries = [
    '?',
    '??',
    '?&',
    '?&&limit=1',
    '?=',
    '?limit',
    '?limit=1;watch=1',
    '?watch=false;',
    '?limit=%',
    '?limit=%zz',
    '?li%6Dit=1',
    '?limit=%31',
    '?limit=1#a',
    '?labelSelector=a%3Db%2Cc%21%3Dd',
    '?labelSelector=a=b',
    '?fieldSelector=metadata.name=default',
    '?pretty=%00',
    '?limit=1&watch=0&watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dnone',
    '?WATCH=1',
    '?timeout=1s',
    '?timeout=x',
    '?timeout=-1s',
    '?%',
    '?a[]=1&b{}=2',
  ];
  return [
    ...paths.map((path) => get(path)),
    ...queries.map((query) => get(`/api/v1/namespaces/default/configmaps${query}`)),
  ];
}

const METHODS = [
  'HEAD',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'LINK',
  'PURGE',
  'QUERY',
  'get',
  'FOO',
  'G-ET',
];

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
    'Audit-ID: 11111111-2222-3333-4444-555555555555',
    'Audit-ID: not valid!',
    `Audit-ID: ${'a'.repeat(100)}`,
    'Impersonate-User: jane',
    'Impersonate-User: ',
    'Impersonate-Group: a',
    'Impersonate-Uid: 1',
    'Impersonate-Extra-a%2fb: c',
    'Impersonate-Extra-Scopes: c',
    'Impersonate_User: jane',
    'X-Remote-User: jane',
    'X-Remote-Group: system:masters',
    'X-Remote-Extra-a: b',
    'X-Forwarded-For: 203.0.113.1',
    'X-Forwarded-Proto: http',
    'X-Forwarded-Host: other',
    'Forwarded: for=203.0.113.1',
    'Origin: https://other.example',
    'Referer: https://other.example',
    'Cookie: a=b',
    'Connection: keep-alive',
    'Connection: close, Authorization',
    'Connection: close, X-Unknown',
    'Proxy-Connection: keep-alive',
    'Keep-Alive: timeout=1',
    'TE: trailers',
    'Expect: 100-continue',
    'Expect: other',
    'Upgrade: websocket',
    'Upgrade: h2c',
    'Range: bytes=0-1',
    'If-Modified-Since: Wed, 21 Oct 2035 07:28:00 GMT',
    'Accept-Encoding: gzip',
    'Accept-Encoding: br, zstd',
    'Accept-Encoding: identity;q=0',
    'Accept: ',
    'Accept: application/json;q=0',
    'Accept: application/json;indent=4',
    'Accept: application/json;pretty=1',
    'Accept: invalid',
    'Accept: */*;q=x',
    'User-Agent: ',
    'User-Agent: kubectl/v1.0.0',
    'Content-Length: 0',
    'Transfer-Encoding: chunked',
    'Content-Encoding: gzip',
    'X-HTTP-Method-Override: DELETE',
    'X-Original-URL: /',
    'Access-Control-Request-Method: PUT',
    'Sec-WebSocket-Protocol: v4.channel.k8s.io',
    'Kubectl-Command: kubectl get',
    'Warning: 299 - "a"',
  ];
  return [
    ...one.map((line) => ({
      ...get(target, line),
      ...(line.startsWith('Transfer-Encoding') ? { body: '0\r\n\r\n' } : {}),
    })),
    get(target, 'Accept: application/json', 'Accept: application/yaml'),
    get(target, 'X-Unknown: ü', `X-Long: ${'a'.repeat(10_000)}`),
    get(target, ...Array.from({ length: 200 }, (_, i) => `X-Unknown-${i}: ${i}`)),
    get('/api/v1/namespaces?limit=500', 'Accept-Encoding: gzip'),
    get('/apis/rbac.authorization.k8s.io/v1/clusterroles', 'Accept-Encoding: gzip'),
    get(
      '/apis/rbac.authorization.k8s.io/v1/clusterroles',
      'Accept-Encoding: gzip',
      'Accept: application/vnd.kubernetes.protobuf',
    ),
  ];
}
