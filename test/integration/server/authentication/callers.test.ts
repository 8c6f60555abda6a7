// Tests of authentication and authorization against a real control plane: tokens, client certificates and
// front-proxy headers.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { CertificateAuthority } from '../../../../hack/control-plane/certificate-authority.ts';
import { FRONT_PROXY_NAME } from '../../../../hack/control-plane/pki.ts';
import { CONSOLE, GuardedCluster, NODES, PROXY_HOST } from './guarded-cluster.ts';

const CONFIG_MAP = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const RITA = ['X-Remote-User', 'rita', 'X-Remote-Group', 'readers'];

describe('callers of a server with a real cluster', () => {
  let cluster: GuardedCluster;

  before(async () => {
    cluster = await GuardedCluster.start();
    await cluster.allowReads();
  });

  after(() => cluster?.stop());

  async function readerToken(): Promise<string> {
    const path = '/api/v1/namespaces/default/serviceaccounts/reader/token';
    return ((await cluster.create(path, { spec: {} }))['status'] as { token: string }).token;
  }

  describe('with a token of a ServiceAccount', () => {
    let token: string;

    before(async () => {
      await cluster.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'reader' } });
      token = await readerToken();
    });

    it('are the ServiceAccount, have its permissions, and cost one review', async () => {
      const headers = ['Authorization', `Bearer ${token}`];
      const { status, body } = await cluster.ask(NODES, { headers });
      expect(status).to.equal(200);
      expect(body).to.include({ name: 'system:serviceaccount:default:reader' });
      expect(body['groups']).to.include('system:authenticated').and.include('system:serviceaccounts:default');
      const watch = await cluster.ask(`${NODES}?watch=1`, { headers });
      expect(watch.status).to.equal(403);
      expect(watch.body['message']).to.equal(
        'nodes.resources.platform.io is forbidden: User "system:serviceaccount:default:reader" cannot watch resource "nodes" in API group "resources.platform.io" at the cluster scope',
      );
      expect(cluster.tokenReviews).to.equal(1);
    });

    it('are rejected with a modified token', async () => {
      const { status, body } = await cluster.ask(NODES, { headers: ['Authorization', `Bearer ${token}x`] });
      expect([status, body['reason']]).to.deep.equal([401, 'Unauthorized']);
    });
  });

  it('can reach only health and discovery without credentials', async () => {
    for (const path of ['/livez', '/readyz', '/version', '/apis', '/apis/', '/openapi/v3']) {
      expect((await cluster.ask(path)).status, path).to.equal(200);
    }
    for (const path of ['/metrics', NODES, `${NODES}/n1`, '/', NODES.replace('/apis', '/kapis')]) {
      const { status, body } = await cluster.ask(path);
      expect([path, status]).to.deep.equal([path, 403]);
      expect(body['message']).to.contain('User "system:anonymous" cannot ');
    }
  });

  it('get the messages of kube-apiserver', async () => {
    const pair = await cluster.controlPlane.pki.issueClient({ cn: 'bob' });
    const { ca, url } = cluster.controlPlane;
    const { status, body } = await cluster.ask('/api/v1/nodes', { pair });
    const [theirs] = await once(get(`${url}/api/v1/nodes`, { ca, ...pair, agent: false }), 'response');
    expect(status).to.equal(403);
    expect(body).to.deep.equal(await json(theirs));
  });

  it('with permission for one name select it only with parameters that kube-apiserver can decode', async () => {
    const pair = await cluster.controlPlane.pki.issueClient({ cn: 'rita', o: ['readers'] });
    const { ca, url } = cluster.controlPlane;
    for (const [query, status] of [
      ['limit=1', 200],
      ['limit=x', 403],
      ['limit=', 403],
      ['timeoutSeconds=1.5', 403],
      ['labelSelector=a===b', 403],
    ] as const) {
      const path = `/api/v1/nodes?fieldSelector=metadata.name%3Dn1&${query}`;
      const [theirs] = await once(get(`${url}${path}`, { ca, ...pair, agent: false }), 'response');
      await json(theirs);
      expect([theirs.statusCode, (await cluster.ask(path, { pair })).status], query).to.deep.equal([
        status,
        status,
      ]);
    }
  });

  describe('with a certificate', () => {
    it('of the cluster CA are its user; system:masters needs no rule', async () => {
      const { pki } = cluster.controlPlane;
      const reader = await pki.issueClient({ cn: 'rita', o: ['readers'] });
      expect((await cluster.ask(NODES, { pair: reader })).body).to.include({ name: 'rita' });
      const admin = await pki.issueClient({ cn: 'admin', o: ['system:masters'] });
      expect((await cluster.ask('/metrics', { pair: admin })).status).to.equal(200);
    });

    const requests: readonly (readonly [status: number, headers: readonly string[]])[] = [
      [200, []],
      [200, ['Origin', 'https://localhost']],
      [200, ['Origin', 'https://localhost', 'Sec-Fetch-Site', 'same-origin']],
      [200, ['Origin', CONSOLE, 'Sec-Fetch-Site', 'cross-site']],
      [200, ['Sec-Fetch-Site', 'same-origin']],
      [200, ['Sec-Fetch-Site', 'none']],
      // An image, a navigation, a form, a prefetch: without Origin.
      [403, ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'no-cors', 'Sec-Fetch-Dest', 'image']],
      [403, ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-User', '?1']],
      [403, ['Sec-Fetch-Site', 'same-site']],
      [403, ['Sec-Fetch-Site', 'same-origin', 'Sec-Fetch-Site', 'cross-site']],
      [403, ['Sec-Fetch-Site', '']],
      [403, ['Origin', 'https://localhost', 'Sec-Fetch-Site', 'cross-site']],
      [403, ['Origin', 'http://localhost']],
      [403, ['Origin', 'https://localhost:8443']],
      [403, ['Origin', 'https://localhost.']],
      [403, ['Origin', 'https://localhost, https://localhost']],
      [403, ['Origin', 'https://LOCALHOST']],
      [403, ['Origin', 'null']],
      [403, ['Origin', '']],
      [403, ['Origin', `${CONSOLE}.evil.example`]],
      [403, ['Host', PROXY_HOST]],
    ];
    for (const [status, headers] of requests) {
      const title = status === 200 ? 'are available' : 'are not available to pages of other origins';
      it(`${title}: ${headers.join(' ')}`, async () => {
        const pair = await cluster.controlPlane.pki.issueClient({ cn: 'rita', o: ['readers'] });
        expect((await cluster.ask(NODES, { pair, headers })).status).to.equal(status);
      });
    }

    it('are the user of a token beside the certificate, in a page of another origin', async () => {
      const pair = await cluster.controlPlane.pki.issueClient({ cn: 'rita', o: ['readers'] });
      const headers = [
        'Authorization',
        `Bearer ${await readerToken()}`,
        'Origin',
        'https://elsewhere.example',
      ];
      const { body } = await cluster.ask(NODES, { pair, headers });
      expect(body).to.have.property('name', 'system:serviceaccount:default:reader');
    });

    it('of the front proxy are the user of its headers', async () => {
      const headers = ['X-Remote-User', 'rita', 'X-Remote-Uid', 'u-1', 'X-Remote-Group', 'readers'];
      const pair = cluster.controlPlane.pki.frontProxyClient;
      const { status, body } = await cluster.ask(NODES, { pair, headers });
      expect(status).to.equal(200);
      const groups = ['readers', 'system:authenticated'];
      expect(body).to.deep.equal({ name: 'rita', uid: 'u-1', groups, extra: {} });
    });
  });

  describe('when the settings of the cluster change', () => {
    it('are accepted and rejected at once, on a kept connection', async () => {
      const before = await cluster.published();
      const ca = await CertificateAuthority.create('second cluster CA');
      const pair = await ca.issueClient({ cn: 'rita', o: ['readers'] });
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      expect((await cluster.ask(NODES, { pair, agent })).status).to.equal(401);
      const believed = (): boolean => cluster.authenticators.settings.clientCAs().length === 3;
      await cluster.publish({ 'client-ca-file': `${before['client-ca-file']}\n${ca.cert}` }, believed);
      expect((await cluster.ask(NODES, { pair, agent })).status).to.equal(200);
      await cluster.publish({ 'client-ca-file': before['client-ca-file'] ?? '' }, () => !believed());
      expect((await cluster.ask(NODES, { pair, agent })).status).to.equal(401);
      agent.destroy();
    });
  });

  it('get 503 while the cluster is unreachable, except for health', async () => {
    const pair = await cluster.controlPlane.pki.issueClient({ cn: 'late', o: ['readers'] });
    await cluster.controlPlane.apiserver.kill();
    const { status, body } = await cluster.ask(NODES, { pair });
    expect([status, body['reason']]).to.deep.equal([503, 'ServiceUnavailable']);
    expect((await cluster.ask('/livez')).status).to.equal(200);
    await cluster.controlPlane.apiserver.restart();
    expect((await cluster.ask(NODES, { pair })).status).to.equal(200);
  });

  // Last, because it replaces the front proxy.
  describe('a kube-apiserver that restarts with other CAs', () => {
    let agent: Agent;

    before(() => {
      agent = new Agent({ keepAlive: true, maxSockets: 1 });
    });
    after(() => agent.destroy());

    it('is trusted at once, and its old front proxy until the ConfigMap is deleted', async () => {
      const { apiserver, client, dir, pki } = cluster.controlPlane;
      const ca = await CertificateAuthority.create('next front proxy CA');
      const next = await ca.issueClient({ cn: FRONT_PROXY_NAME });
      const file = async (name: string, text: string): Promise<string> => {
        const path = join(dir, name);
        await writeFile(path, text, { mode: 0o600 });
        return path;
      };
      const ask = async (pair: typeof next): Promise<number> =>
        (await cluster.ask(NODES, { pair, headers: RITA, ...(pair === next ? {} : { agent }) })).status;
      const trusted = (): number => cluster.authenticators.settings.current()?.frontProxy?.cas.length ?? 0;
      const former = pki.frontProxyClient;
      expect([await ask(former), await ask(next)]).to.deep.equal([200, 401]);

      const restarted = apiserver.restart({
        extraFlags: [
          `--requestheader-client-ca-file=${await file('next-ca.crt', ca.cert)}`,
          `--proxy-client-cert-file=${await file('next.crt', next.cert)}`,
          `--proxy-client-key-file=${await file('next.key', next.key)}`,
        ],
      });
      while (trusted() !== 2) await cluster.nextSettings();
      await restarted;
      expect([await ask(former), await ask(next)]).to.deep.equal([200, 200]);

      await client.expect(CONFIG_MAP, { method: 'DELETE' }, [200]);
      while (trusted() !== 1) await cluster.nextSettings();
      expect([await ask(former), await ask(next)]).to.deep.equal([401, 200]);
    });
  });
});
