// Attacks with client certificates: names that a header changes, further credentials, and the kubelet client certificate of
// kube-apiserver.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { record } from '../../../apis/reading/unknown-value.ts';
import type { KeyPair } from '../../../hack/control-plane/certificate-authority.ts';
import type { ServerProcess } from '../../../hack/extension/server-process.ts';
import { until } from '../../support/until.ts';
import type { GatewayPlatform, Side } from '../gateway/gateway-platform.ts';
import { type RawResponse, rawRequest } from '../gateway/raw-request.ts';
import { reviewed, SELF_REVIEW, SELF_REVIEWS } from '../gateway/self-review.ts';
import { filled, PREFIX, PROTOCOL, titleOf, WEBSOCKET } from './credential-spellings.ts';
import { sharedCredentials } from './shared-credentials.ts';

const NODES = 'resources.platform.io/v1alpha3/nodes';
const PRIVATE_PATHS = [`/apis/${NODES}`, `/kapis/${NODES}`, '/metrics', '/api/v1/secrets', '/api/v1/nodes'];
/** Headers that could keep kube-apiserver from marking a request as forwarded. */
const UNMARKING = [
  [],
  ['Connection: close, X-Forwarded-For, X-Forwarded-Uri, X-Forwarded-Host, X-Forwarded-Proto'],
  ['X-Forwarded-For: ', 'Impersonate-User: root'],
  WEBSOCKET,
];

describe('attacks with a client certificate', () => {
  let gateway: GatewayPlatform;
  let replica: ServerProcess;
  let token: string;

  before(async () => {
    gateway = await sharedCredentials();
    token = await gateway.signIn('ada');
    await gateway.platform.succeeding(
      'apply --server-side -f manifests/components/gateway-impersonation/access.yaml',
    );
    replica = await gateway.platform.startReplica('impersonating', {
      gateway: { impersonation: 'certificates' },
    });
  });

  const certificateOf = (cn: string, o: readonly string[] = []): Promise<KeyPair> =>
    gateway.platform.controlPlane.pki.issueClient({ cn, o });

  /** Status and user of a SelfSubjectReview; undefined as user if it is rejected. */
  async function whoAmI(side: Side | ServerProcess, pair: KeyPair, headers: readonly string[] = []) {
    const body = JSON.stringify(SELF_REVIEW);
    const id = randomUUID();
    const head = [`POST ${SELF_REVIEWS} HTTP/1.1`, `Audit-ID: ${id}`, `Content-Length: ${body.length}`];
    const lines = [...head, 'Content-Type: application/json', ...headers];
    const { status, user } = reviewed(await rawRequest({ ...gateway.target(side), ...pair }, lines, body));
    const { username, groups } = record(status === 201 ? user : {});
    return { status, username, groups, id };
  }

  it('are not successful with names that a header changes', async () => {
    for (const space of [' ', '\u00a0']) {
      for (const pair of [
        await certificateOf('mallory', [`${space}system:masters`]),
        await certificateOf('mallory', ['dev', `system:masters${space}`]),
        await certificateOf(`${space}admin`),
        await certificateOf(`admin${space}`),
      ]) {
        const { status, id } = await whoAmI(replica, pair);
        expect(status, JSON.stringify(space)).to.equal(401);
        expect(await gateway.auditLog.records(id)).to.deep.equal([]);
      }
    }
  });

  // Names that look or compare alike: normal forms, invisible characters, directions, case, and separators.
  for (const name of [
    ...['jürgen 名', 'ju\u0308rgen', 'ad\u200bmin', '\u2060admin', 'admin\u00ad', '\u202eadmin'],
    ...['\u180eadmin', 'ad\u0080min', 'İadmin', 'ADMIN', 'admin,system:masters', 'admin"'],
    ...['%61dmin', '=?utf-8?q?admin?='],
  ]) {
    it(`see one user named ${titleOf([name])}`, async () => {
      const pair = await certificateOf(name, ['gäste', `system:masters\u200b`, name]);
      const [direct, through] = await Promise.all([whoAmI('direct', pair), whoAmI(replica, pair)]);
      expect(through).to.deep.include({ username: name, groups: direct.groups, status: 201 });
    });
  }

  it('find no path of a kubelet, to which kube-apiserver sends its certificate for logs and streams of pods', async () => {
    const pair = await certificateOf('boss', ['system:masters']);
    for (const operation of ['containerLogs', 'exec', 'attach', 'portForward', 'run', 'cri/exec', 'logs']) {
      const lines = [`GET /${operation}/default/web/app HTTP/1.1`];
      const { status } = await rawRequest({ ...gateway.target(replica), ...pair }, lines);
      expect(status, operation).to.equal(404);
    }
  });

  for (const lines of [
    ['Authorization: Basic YTpi'],
    ['Authorization: \xc2\xa0Bearer T'],
    ['Authorization: Bearer  T'],
    ['Authorization: Bearer T', `Sec-WebSocket-Protocol: ${PREFIX}E, ${PROTOCOL}`],
    [`Sec-WebSocket-Protocol: ${PREFIX}E, ${PROTOCOL}`],
    ['Proxy-Authorization: Bearer T'],
  ]) {
    it(`are a 401 beside ${titleOf(lines)}`, async () => {
      const { status, id } = await whoAmI(replica, await certificateOf('carol'), filled(lines, token));
      expect(status).to.equal(401);
      expect(await gateway.auditLog.records(id)).to.deep.equal([]);
    });
  }

  it('see the user of the certificate beside a valid token', async () => {
    const lines = filled(['Authorization: Bearer T'], token);
    expect(await whoAmI(replica, await certificateOf('carol'), lines)).to.include({ username: 'carol' });
  });

  it('give a caller of nodes/proxy nothing of the kubelet client certificate of kube-apiserver', async function () {
    const address = Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
    // kube-apiserver connects to no loopback address.
    if (address === undefined) this.skip();
    const { platform } = gateway;
    await platform.succeeding('create clusterrole node-proxy --verb=get --resource=nodes/proxy');
    await platform.succeeding('create serviceaccount prober');
    await platform.bind('node-proxy', '--serviceaccount=default:prober');
    const prober = `Authorization: Bearer ${await gateway.serviceAccountToken('default', 'prober')}`;
    for (const server of [platform.server, replica]) {
      const relay = await startRelay(address, gateway.target(server).port);
      const proxied = await createNode(address, relay.port);
      const visit = (path: string, headers: readonly string[]): Promise<RawResponse> =>
        gateway.raw('direct', [`GET ${proxied}${path} HTTP/1.1`, prober, ...headers]);
      expect((await visit('/livez', [])).status).to.equal(200);
      for (const path of PRIVATE_PATHS) {
        for (const headers of UNMARKING) {
          const { status } = await visit(path, headers);
          expect(status, `${path} with ${titleOf(headers)}`).to.be.oneOf([400, 401, 403]);
        }
      }
      relay.close();
    }
  });

  it('leave the front proxy its certificate', async () => {
    await gateway.platform.bind('cluster-admin', '--user=ada');
    const lines = [`GET /apis/${NODES} HTTP/1.1`, `Authorization: Bearer ${token}`];
    await until(async () => (await gateway.raw('direct', lines)).status === 200);
  });

  /** Creates a Node whose kubelet has this address. Returns the path of its proxy. */
  async function createNode(address: string, port: number): Promise<string> {
    const { platform } = gateway;
    const name = `trap-${port}`;
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
    await platform.succeeding('apply -f', await platform.write('trap.json', JSON.stringify(node)));
    const status = {
      addresses: [{ type: 'InternalIP', address }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    };
    const patch = `patch node ${name} --subresource=status --type=merge -p`;
    await platform.succeeding(patch, JSON.stringify({ status }));
    return `/api/v1/nodes/https:${name}:${port}/proxy`;
  }
});

/** Copies connections to a port of loopback. */
async function startRelay(address: string, target: number): Promise<{ port: number; close: () => void }> {
  const server = createServer((from) => {
    const to = connect(target, '127.0.0.1');
    from.on('error', () => to.destroy()).pipe(to);
    to.on('error', () => from.destroy()).pipe(from);
  });
  await once(server.listen(0, address), 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
