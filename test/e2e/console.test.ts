// Tests of the node list for consoles against ks-apiserver, with curl and an ordinary user.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { array, record, text } from '../../apis/reading/unknown-value.ts';
import { SERVICE_ACCOUNT } from '../../hack/extension/registration.ts';
import { ServerProcess } from '../../hack/extension/server-process.ts';
import { freePort } from '../../hack/system/ports.ts';
import { Platform } from './platform.ts';

const run = promisify(execFile);
const NODES = '/kapis/resources.platform.io/v1alpha3/nodes';

describe('the node list for consoles, with curl', function () {
  this.timeout(300_000);
  let platform: Platform;
  let reader: string;
  let nobody: string;

  before(async () => {
    platform = await Platform.start(12);
    for (const name of ['reader', 'nobody']) await platform.succeeding('create', 'serviceaccount', name);
    await platform.succeeding(
      ...['create', 'clusterrolebinding', 'console', '--clusterrole=platform-nodes-reader'],
      '--serviceaccount=default:reader',
    );
    // A permission for core nodes is no permission for nodes of the platform.
    await platform.succeeding('create', 'clusterrole', 'core-nodes', '--verb=get,list', '--resource=nodes');
    await platform.succeeding(
      ...['create', 'clusterrolebinding', 'core-nodes', '--clusterrole=core-nodes'],
      '--group=system:authenticated',
    );
    const as = '--as=system:serviceaccount:default';
    await platform.permitted('list', 'nodes.resources.platform.io', `${as}:reader`);
    await platform.permitted('list', 'nodes', `${as}:nobody`);
    reader = (await platform.succeeding('create', 'token', 'reader')).trim();
    nobody = (await platform.succeeding('create', 'token', 'nobody')).trim();
  });

  after(() => platform?.stop());

  /** A request as in the specification: a token, a content type, no body. */
  async function curl(
    token: string,
    path: string,
    ...args: string[]
  ): Promise<{ status: number; body: string }> {
    const ca = await platform.write('console-ca.crt', platform.controlPlane.ca);
    // The token comes from standard input, so that it is not in the process list.
    const child = run('curl', [
      ...['--silent', '--show-error', '--cacert', ca, '--config', '-', '--write-out', '\n%{http_code}'],
      ...['--header', 'Content-Type: application/json', ...args, new URL(path, platform.server.url).href],
    ]);
    child.child.stdin?.end(`header = "Authorization: Bearer ${token}"\n`);
    const { stdout } = await child;
    const end = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
  }

  it('returns a page of nodes to a caller who may list nodes', async () => {
    const { status, body } = await curl(
      reader,
      `${NODES}?limit=5&sortBy=name&ascending=true&_=1`,
      '--compressed',
    );
    expect(status, body).to.equal(200);
    const list = record(JSON.parse(body));
    expect(list).to.include({ kind: 'NodeList', totalItems: 12 });
    const links = array(list['items']).map((item) => text(record(record(item)['metadata'])['selfLink']));
    expect(links).to.deep.equal([0, 1, 2, 3, 4].map((index) => `${NODES}/node-0000${index}`));
    expect((await curl(reader, `${NODES}/node-00003`)).status).to.equal(200);
    expect((await curl(reader, `${NODES}/node-99999`)).status).to.equal(404);
    expect((await curl(reader, `${NODES}?nmae=x`)).status).to.equal(400);
  });

  it('forbids a caller who may not list nodes', async () => {
    const list = await curl(nobody, NODES);
    expect(list.status).to.equal(403);
    expect(record(JSON.parse(list.body))['message']).to.equal(
      'nodes.resources.platform.io is forbidden: User "system:serviceaccount:default:nobody" cannot list resource "nodes" in API group "resources.platform.io" at the cluster scope',
    );
    expect((await curl(nobody, `${NODES}/node-00003`)).status).to.equal(403);
    expect((await curl(nobody, NODES, '--head')).status).to.equal(403);
    expect((await curl(`${reader}x`, NODES)).status).to.equal(401);
    expect((await curl(reader, NODES, '--request', 'DELETE')).status).to.equal(403);
  });

  it('responds 304 to a poll while nothing has changed', async () => {
    const etags = await platform.write('etag', '');
    const poll = (): Promise<{ status: number; body: string }> =>
      curl(reader, `${NODES}?limit=5`, '--etag-save', etags, '--etag-compare', etags);
    expect((await poll()).status).to.equal(200);
    expect(await poll()).to.deep.equal({ status: 304, body: '' });
  });

  it("returns the resource requests of a node's pods if configured", async () => {
    const { pki, ca } = platform.controlPlane;
    const { cert, key } = await pki.cluster.issueServer(
      { cn: 'usage' },
      { dns: ['localhost'], ip: ['127.0.0.1'] },
    );
    const dir = await mkdtemp(join(tmpdir(), 'console-'));
    const server = await ServerProcess.start({
      dir,
      kubeconfig: await platform.controlPlane.kubeconfigFor(SERVICE_ACCOUNT),
      port: await freePort(),
      certificate: {
        cert: await platform.write('usage.crt', cert),
        key: await platform.write('usage.key', key),
        ca: await platform.write('usage-ca.crt', ca),
      },
      configuration: { resources: { nodes: { usageAnnotations: true } } },
      signal: platform.signal,
    });
    try {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'taking' },
        spec: {
          nodeName: 'node-00001',
          containers: [{ name: 'c', image: 'example.org/none', resources: { requests: { cpu: '300m' } } }],
        },
      };
      const access = 'manifests/components/node-usage/access.yaml';
      await platform.succeeding('apply', '-f', access);
      await platform.succeeding('apply', '-f', await platform.write('pod.json', JSON.stringify(pod)));
      for (let taken = ''; taken !== '300m'; ) {
        const { body } = await curl(reader, `${server.url}${NODES}/node-00001`);
        const { annotations } = record(record(JSON.parse(body))['metadata']);
        taken = text(record(annotations)['node.platform.io/cpu-requests']);
        if (taken !== '300m') await once(AbortSignal.timeout(100), 'abort');
      }
      const { body } = await curl(reader, `${NODES}/node-00001`);
      expect(body).not.to.include('node.platform.io/cpu-requests');
    } finally {
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    }
  });
});
