// Tests of server/README.md, which lists the source files for each kind of request. The test measures which source
// files a running server executes.
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { hash } from '@node-rs/argon2';
import { expect } from 'chai';
import { type ControlPlane, startControlPlane } from '../../hack/control-plane/control-plane.ts';
import { apply, grant, SERVICE_ACCOUNT } from '../../hack/extension/registration.ts';
import { ServerProcess } from '../../hack/extension/server-process.ts';
import { logData } from '../../hack/log-data/log-data.ts';
import { loadOpenSearch } from '../../hack/log-stores/load-opensearch.ts';
import type { LogStoreProcess } from '../../hack/log-stores/log-store.ts';
import { startOpenSearch } from '../../hack/log-stores/opensearch.ts';
import { createNodes } from '../../hack/simulation/realistic-node.ts';
import { freePort } from '../../hack/system/ports.ts';
import { JOURNEYS_DOCUMENT, journeysIn } from '../support/journeys.ts';
import { requireJava } from '../support/logging/require-java.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROBE = join(ROOT, 'test/support/function-coverage.ts');
const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
const LISTED = '/kapis/resources.platform.io/v1alpha3/namespaces/kube-system/configmaps';
const FORWARDED = '/api/v1/namespaces/default';
const LOGS = '/kapis/logging.platform.io/v1alpha2/logs';
/** Requests whose files are excepted from the lists: the filter chain, without a handler of a listed request. */
const BASELINES = ['/metrics', '/apis/resources.platform.io/v1alpha3', '/readyz?verbose'];
const SETTLE_MS = 300;
const RUNS = 4;
const PASSWORD = 'correct horse battery';

describe('the journeys of server/README.md', function () {
  this.timeout(300_000);

  let dir: string;
  let stop: AbortController;
  let controlPlane: ControlPlane;
  let store: LogStoreProcess;
  let server: ServerProcess;
  let certificate: { cert: string; key: string; ca: string };
  let caller: { cert: string; key: string };
  /** Token of a ServiceAccount, because the gateway forwards no client certificate. */
  let token: string;
  let documented: ReadonlyMap<string, readonly string[]>;
  let background: ReadonlySet<string>;

  before(async function () {
    await requireJava(this);
    dir = await mkdtemp(join(tmpdir(), 'ks-journeys-'));
    stop = new AbortController();
    const { signal } = stop;
    [controlPlane, store] = await Promise.all([
      startControlPlane({ dir: join(dir, 'control-plane'), signal }),
      startOpenSearch({ dir: join(dir, 'opensearch'), signal }),
    ]);
    await createNodes(controlPlane, 3, { signal });
    await loadOpenSearch(store.url, logData({ lines: 2_000 }).records(), { indexPrefix: 'logs' });
    const port = await freePort();
    await grant(controlPlane, port, signal);
    caller = await controlPlane.pki.issueClient({ cn: 'ada', o: ['administrators'] });
    await apply(controlPlane, ADMINISTRATORS, signal);
    token = await serviceAccountToken();
    certificate = { cert: join(dir, 'tls.crt'), key: join(dir, 'tls.key'), ca: join(dir, 'ca.crt') };
    await writeFile(certificate.ca, controlPlane.ca);
    await issueServingCertificate();
    server = await ServerProcess.start({
      dir: join(dir, 'server'),
      kubeconfig: await controlPlane.kubeconfigFor(SERVICE_ACCOUNT),
      port,
      certificate,
      imports: [PROBE],
      configuration: {
        logging: { store: 'opensearch', opensearch: { urls: [store.url], indexPrefix: 'logs' } },
        log: { level: 'debug' },
      },
      signal,
    });
    documented = journeysIn(await readFile(join(ROOT, JOURNEYS_DOCUMENT), 'utf8'));
    await until(async () => (await ask(NODES)).status === 200);
    await until(async () => (await ask(LOGS)).status === 200);
    await executed();
    for (const path of BASELINES) await ask(path);
    await ask('/apis/resources.platform.io/v1alpha3', { token });
    // A change that the server watches, because a sign-in causes one too.
    await addUser();
    await delay(10 * SETTLE_MS);
    background = new Set(await executed());
  });

  after(async () => {
    await server?.stop();
    stop.abort();
    await Promise.all([controlPlane?.stop(), store?.stop()]);
    await rm(dir, { recursive: true, force: true });
  });

  async function issueServingCertificate(): Promise<void> {
    const names = { dns: ['localhost'], ip: ['127.0.0.1'] };
    const pair = await controlPlane.pki.cluster.issueServer({ cn: 'ks-apiserver' }, names);
    for (const [path, text] of [
      [certificate.key, pair.key],
      [certificate.cert, pair.cert],
    ] as const) {
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    }
  }

  async function addUser(): Promise<void> {
    const user = await create('users', {
      kind: 'User',
      metadata: { name: 'jane' },
      spec: { groups: [] },
    });
    await create('credentials', {
      kind: 'Credential',
      metadata: { name: 'jane' },
      spec: {
        userUID: user.metadata.uid,
        passwordHash: await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2 }),
        changedTime: new Date().toISOString(),
      },
    });
  }

  async function create(plural: string, object: object): Promise<{ metadata: { uid: string } }> {
    const body = { apiVersion: 'iam.platform.io/v1beta1', ...object };
    const path = `/apis/iam.platform.io/v1beta1/${plural}`;
    const created = await controlPlane.client.expect(path, { method: 'POST', body }, [201]);
    return JSON.parse(created.body) as { metadata: { uid: string } };
  }

  async function serviceAccountToken(): Promise<string> {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    const created = await controlPlane.client.expect(path, { method: 'POST', body }, [201]);
    return (JSON.parse(created.body) as { status: { token: string } }).status.token;
  }

  async function ask(
    path: string,
    sent: { form?: string; token?: string } = {},
  ): Promise<{ status: number; body: string }> {
    const { form } = sent;
    const headers = {
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(sent.token === undefined ? {} : { authorization: `Bearer ${sent.token}` }),
    };
    const identity = form === undefined && sent.token === undefined ? caller : {};
    const outgoing = request(`${server.url}${path}`, {
      method: form === undefined ? 'GET' : 'POST',
      headers,
      ca: controlPlane.ca,
      ...identity,
      agent: false,
    });
    outgoing.end(form);
    const [response] = await once(outgoing, 'response');
    let body = '';
    for await (const chunk of response) {
      body += String(chunk);
      if (path.includes('watch=true')) break;
    }
    return { status: response.statusCode, body };
  }

  async function executed(): Promise<readonly string[]> {
    return (await server.ask('executed-files')) as string[];
  }

  /** Files that ran in each of several runs, so that timers of the server do not count, and for no other request. */
  async function filesOf(work: () => Promise<unknown>): Promise<string[]> {
    const runs: ReadonlySet<string>[] = [];
    for (let run = 0; run < RUNS; run++) {
      await executed();
      await work();
      await delay(SETTLE_MS);
      runs.push(new Set(await executed()));
    }
    const [first, ...others] = runs;
    const common = [...(first ?? [])].filter((file) => others.every((other) => other.has(file)));
    return common.filter((file) => !background.has(file)).toSorted();
  }

  function check(title: string, measured: readonly string[], goal: number): void {
    const listed = documented.get(title) ?? [];
    expect(
      measured.filter((file) => !listed.includes(file)),
      `missing in ${title}`,
    ).to.deep.equal([]);
    expect(listed.length, title).to.be.at.most(goal);
  }

  it('list the files of a list of nodes', async () => {
    check('List nodes', await filesOf(() => ask(NODES)), 12);
  });

  it('list the files of a watch', async () => {
    check('Watch nodes', await filesOf(() => ask(`${NODES}?watch=true`)), 12);
  });

  it('list the files of a list for a console', async () => {
    const page = `${LISTED}?sortBy=name&ascending=true&limit=10&labelSelector=a!=b`;
    await until(async () => (await ask(page)).status === 200);
    check('List pods for a console', await filesOf(() => ask(page)), 25);
  });

  it('list the files of a forwarded request', async () => {
    await until(async () => (await ask(FORWARDED, { token })).status === 403);
    check('Forward a request', await filesOf(() => ask(FORWARDED, { token })), 12);
  });

  it('list the files of the password grant', async () => {
    const form = new URLSearchParams({
      grant_type: 'password',
      username: 'jane',
      password: PASSWORD,
      client_id: 'platform',
      client_secret: 'platform',
    }).toString();
    await until(async () => (await ask('/oauth/token', { form })).status === 200);
    check('Password grant', await filesOf(() => ask('/oauth/token', { form })), 18);
  });

  it('list the files of an OpenSearch query', async () => {
    check('Query logs in OpenSearch', await filesOf(() => ask(`${LOGS}?log_query=timeout&size=5`)), 21);
  });

  it('list the files of a certificate reload', async () => {
    const served = async (): Promise<string> => {
      const socket = connect({
        port: Number(new URL(server.url).port),
        host: '127.0.0.1',
        ca: controlPlane.ca,
      });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    const measured = await filesOf(async () => {
      const before = await served();
      await issueServingCertificate();
      await until(async () => (await served()) !== before);
    });
    check('Certificate reload', measured, 8);
  });
});

const ADMINISTRATORS = JSON.stringify({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'administrators' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'administrators' }],
});
