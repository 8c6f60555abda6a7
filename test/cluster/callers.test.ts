// Tests of the callers of a real installation: through the aggregator, the Service, the NodePort, plain HTTP, and the
// gateway with real pods.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { type Cluster, SERVER_NAME } from '../../hack/cluster/cluster.ts';
import type { Answer } from '../support/exchange.ts';
import { authorizationQuery } from '../support/oauth/authorization-query.ts';
import { until } from '../support/until.ts';
import { type DirectRequest, directRequest } from './direct-request.ts';
import { BASE, NAMESPACE, NODES, ROOT, sharedCluster } from './shared-cluster.ts';

const SHOP = 'shop';
const CLIENT = { client_id: 'platform', client_secret: 'platform' };
const REDIRECT = 'http://127.0.0.1:1/callback';
const NEW_PASSWORD = 'a password of my own';
const LISTS = '/kapis/resources.platform.io/v1alpha3';
const LOGS = '/kapis/logging.platform.io/v1alpha2/logs';

/** Pods that write a line, and a ServiceAccount that may do everything in their namespace. */
const SHOP_OBJECTS = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'ada', namespace: SHOP } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'ada', namespace: SHOP },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'ada', namespace: SHOP }],
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'cart', namespace: SHOP, labels: { app: 'cart' } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'cart',
          image: 'busybox:1',
          command: ['sh', '-c', 'echo order 4711 accepted; exec tail -f /dev/null'],
        },
      ],
    },
  },
];

describe('callers of a real installation', () => {
  let cluster: Cluster;
  let folder: string;
  let service: { clusterIP: string; ca: string };
  let token: string;
  const kubectl = (...args: string[]): Promise<string> => cluster.kubectl(...args);

  before(async () => {
    cluster = sharedCluster();
    folder = await mkdtemp(join(tmpdir(), 'callers-'));
    await cluster.applyOverlay(BASE);
    const objects = join(folder, 'shop.yaml');
    await writeFile(objects, SHOP_OBJECTS.map((object) => stringify(object)).join('---\n'));
    await kubectl('apply', '-f', objects);
    await kubectl('wait', '-n', SHOP, 'pod/cart', '--for=condition=Ready', '--timeout=60s');
    await cluster.trustServer();
    service = await cluster.service();
    await writeFile(join(folder, 'ca.crt'), service.ca);
    token = (await kubectl('create', 'token', 'ada', '-n', SHOP)).trim();
  });
  after(async () => {
    await kubectl('delete', 'namespace', SHOP, '--ignore-not-found');
    await rm(folder, { recursive: true });
  });

  /** A request to the Service. */
  function ask(path: string, options: Partial<DirectRequest> = {}): Promise<Answer> {
    return directRequest({ address: service.clusterIP, ca: service.ca, path, ...options });
  }
  const asAda = (): { authorization: string } => ({ authorization: `Bearer ${token}` });

  /** kubectl with the address of the Service instead of kube-apiserver. */
  function throughGateway(...args: string[]): Promise<string> {
    const server = ['--server', `https://${service.clusterIP}`, '--tls-server-name', SERVER_NAME];
    const trust = ['--certificate-authority', join(folder, 'ca.crt')];
    return kubectl('--kubeconfig', '/dev/null', ...server, ...trust, '--token', token, ...args);
  }

  it('read nodes through the aggregator', async () => {
    expect(await kubectl('get', NODES, '-o', 'name')).to.equal('node.resources.platform.io/ks-node\n');
    expect(
      await kubectl('get', NODES, 'ks-node', '-o', 'jsonpath={.status.nodeInfo.containerRuntimeVersion}'),
    ).to.match(/^containerd:/);
  });

  it('use TLS at the Service', async () => {
    expect(await ask('/readyz')).to.deep.include({ status: 200, body: 'ok' });
  });

  it('use plain HTTP at the Service from a pod, without the gateway', async () => {
    const get = (path: string): Promise<string> =>
      kubectl('exec', '-n', SHOP, 'cart', '--', 'wget', '-qO-', `http://${service.clusterIP}${path}`);
    expect(await get('/readyz')).to.equal('ok');
    expect(JSON.parse(await get('/oauth/keys'))).to.have.property('keys');
    expect(JSON.parse(await get('/version'))).to.have.nested.property('kubernetes.gitVersion');
    expect(await get('/api').catch(String)).to.contain('404');
  });

  it('use the NodePort', async () => {
    await kubectl('apply', '-k', join(ROOT, 'manifests/overlays/node-port'));
    const jsonpath = 'jsonpath={.spec.ports[?(@.name=="https")].nodePort}';
    const port = await kubectl('get', 'service', '-n', NAMESPACE, 'ks-apiserver', '-o', jsonpath);
    const address = cluster.addresses.node;
    // kube-proxy sets up the port within a second.
    await until(() =>
      ask('/readyz', { address, port: Number(port) }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  });

  it('list real pods with their status', async () => {
    const { status, body } = await ask(`${LISTS}/namespaces/${SHOP}/pods?status=Running`, {
      headers: asAda(),
    });
    expect(status, body).to.equal(200);
    const list = JSON.parse(body) as { items: { metadata: { name: string } }[] };
    expect(list.items.map(({ metadata }) => metadata.name)).to.deep.equal(['cart']);
  });

  it('query the log of a real pod', async () => {
    const query = `${LOGS}?namespaces=${SHOP}&log_query=4711`;
    await until(async () => (await ask(query, { headers: asAda() })).body.includes('order 4711 accepted'));
    const { query: found } = JSON.parse((await ask(query, { headers: asAda() })).body) as { query: Found };
    expect(found).to.include({ total: 1 });
    expect(found.records[0]).to.include({ namespace: SHOP, pod: 'cart', container: 'cart' });
  });

  it('use kubectl with real pods through the gateway', async () => {
    expect(await throughGateway('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).to.equal(
      `system:serviceaccount:${SHOP}:ada`,
    );
    expect(await throughGateway('get', 'pods', '-n', SHOP)).to.match(/^cart\s+1\/1\s+Running/m);
    expect(await throughGateway('logs', '-n', SHOP, 'cart')).to.equal('order 4711 accepted\n');
    const forbidden = await throughGateway('get', 'pods', '-n', NAMESPACE).catch(String);
    expect(forbidden).to.contain('cannot list resource "pods"');
  });

  it('run programs in a real pod, and copy files, through the gateway', async () => {
    const hostname = await throughGateway('exec', '-n', SHOP, 'cart', '--', 'hostname');
    expect(hostname).to.equal('cart\n');
    const failure = await throughGateway('exec', '-n', SHOP, 'cart', '--', 'sh', '-c', 'exit 7').catch(
      String,
    );
    expect(failure).to.contain('exit code 7');
    const [sent, received] = [join(folder, 'sent'), join(folder, 'received')];
    const content = randomBytes(3_000_000);
    await writeFile(sent, content);
    await throughGateway('cp', sent, `${SHOP}/cart:/tmp/file`);
    await throughGateway('cp', `${SHOP}/cart:/tmp/file`, received);
    expect((await readFile(received)).equals(content)).to.equal(true);
  });

  it('sign in with the password of the first administrator, and administrate the cluster', async () => {
    const wait = ['wait', '-n', NAMESPACE, '--for=jsonpath={.data.password}', '--timeout=60s'];
    await kubectl(...wait, 'secret/ks-apiserver-admin');
    const secret = [
      'get',
      'secret',
      'ks-apiserver-admin',
      '-n',
      NAMESPACE,
      '-o',
      'jsonpath={.data.password}',
    ];
    const password = Buffer.from(await kubectl(...secret), 'base64').toString();
    const verifier = randomBytes(32).toString('base64url');
    const code = await codeOfFirstSignIn(verifier, password);
    const form = {
      ...CLIENT,
      grant_type: 'authorization_code',
      redirect_uri: REDIRECT,
      code,
      code_verifier: verifier,
    };
    const { status, body } = await ask('/oauth/token', { form });
    expect(status, body).to.equal(200);
    token = (JSON.parse(body) as { access_token: string }).access_token;
    // kube-apiserver fetches the keys of the issuer within ten seconds.
    await until(() =>
      throughGateway('auth', 'whoami').then(
        () => true,
        () => false,
      ),
    );
    expect(await throughGateway('auth', 'can-i', '*', '*', '--all-namespaces')).to.equal('yes\n');
  });

  /** Signs in on the pages and replaces the password; returns the authorization code. */
  async function codeOfFirstSignIn(verifier: string, password: string): Promise<string> {
    const query = authorizationQuery(verifier, { client_id: 'platform', redirect_uri: REDIRECT });
    let page = await ask(`/oauth/authorize?${query}`);
    expect(page.status, page.body).to.equal(200);
    const cookie = page.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const submit = async (fields: Record<string, string>): Promise<void> => {
      const ticket = /name="ticket" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
      page = await ask('/oauth/sign-in', { form: { ticket, ...fields }, headers: { cookie } });
    };
    await submit({ username: 'admin', password });
    expect(page.body).to.contain('Choose a new password');
    await submit({ new_password: NEW_PASSWORD, repeated: NEW_PASSWORD });
    expect(page.status, page.body).to.equal(303);
    return new URL(page.headers.location ?? '').searchParams.get('code') ?? '';
  }
});

interface Found {
  readonly total: number;
  readonly records: readonly object[];
}
