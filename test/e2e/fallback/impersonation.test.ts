// Tests of callers whom the gateway impersonates. Each identity equals the identity of the same request at
// kube-apiserver.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import type { KeyPair } from '../../../hack/control-plane/certificate-authority.ts';
import { SERVICE_ACCOUNT } from '../../../hack/extension/registration.ts';
import { until } from '../../support/until.ts';
import { WebSocketClient } from '../../support/web-socket-client.ts';
import {
  ALLOWED_ORIGIN,
  type Component,
  type FallbackPlatform,
  ID_TOKEN_CLIENT,
  type Request,
} from './fallback-platform.ts';
import { sharedFallback } from './shared-fallback.ts';

const IMPERSONATOR = 'ks-apiserver-impersonator';
const IMPERSONATOR_USER = `system:serviceaccount:platform-system:${IMPERSONATOR}`;
const COMPONENTS: readonly Component[] = ['gateway-constrained-impersonation', 'gateway-impersonation'];
const PODS = 'GET /api/v1/namespaces/default/pods';

const ALLOWED = {
  '--as': ['Impersonate-User: bob'],
  '--as of a ServiceAccount': ['Impersonate-User: system:serviceaccount:default:default'],
  '--as-group': ['Impersonate-User: bob', 'Impersonate-Group: developers', 'Impersonate-Group: testers'],
  '--as-uid': ['Impersonate-User: bob', 'Impersonate-Uid: 4711'],
  '--as-user-extra': [
    'Impersonate-User: bob',
    'Impersonate-Extra-example.com%2Fteam: blue',
    'Impersonate-Extra-example.com%2Fteam: red',
  ],
  'without a user name': ['Impersonate-User: '],
};

const REJECTED: Readonly<Record<string, readonly [number, readonly string[]]>> = {
  'another user': [403, ['Impersonate-User: eve']],
  'another group': [403, ['Impersonate-User: bob', 'Impersonate-Group: admins']],
  'another uid': [403, ['Impersonate-User: bob', 'Impersonate-Uid: 1']],
  'another extra': [403, ['Impersonate-User: bob', 'Impersonate-Extra-example.com%2Frole: admin']],
  'another ServiceAccount': [403, ['Impersonate-User: system:serviceaccount:kube-system:default']],
  'another user with the name of an invalid ServiceAccount': [
    403,
    ['Impersonate-User: system:serviceaccount:default:A_b'],
  ],
  'a group without a user': [400, ['Impersonate-Group: developers']],
};

/** A rule that allows to impersonate these names; any name without them. */
const impersonate = (apiGroup: string, resource: string, ...resourceNames: string[]): object => ({
  apiGroups: [apiGroup],
  resources: [resource],
  verbs: ['impersonate'],
  ...(resourceNames.length > 0 ? { resourceNames } : {}),
});

const HELP_DESK = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'help-desk' },
  rules: [
    impersonate('', 'users', 'bob', 'system:anonymous'),
    impersonate('', 'groups', 'developers', 'testers', 'system:masters'),
    impersonate('authentication.k8s.io', 'uids', '4711'),
    impersonate('authentication.k8s.io', 'userextras/example.com/team'),
  ],
};

describe('impersonation', () => {
  let platform: FallbackPlatform;
  /** May impersonate some users, groups, uids and extras. */
  let alice: KeyPair;
  let carol: KeyPair;
  let admin: KeyPair;

  before(async () => {
    platform = await sharedFallback();
    [alice, carol, admin] = await Promise.all([
      platform.certificateOf('alice', ['help-desk']),
      platform.certificateOf('carol'),
      platform.certificateOf('boss', ['system:masters']),
    ]);
    const { platform: cluster, pod } = platform.gateway;
    await cluster.succeeding('apply -f', await cluster.write('help-desk.json', JSON.stringify(HELP_DESK)));
    await cluster.bind('help-desk', '--group=help-desk');
    await cluster.succeeding('create role help-desk --verb=impersonate --resource=serviceaccounts');
    await cluster.succeeding('create rolebinding help-desk --role=help-desk --group=help-desk');
    await cluster.succeeding('create rolebinding edit --clusterrole=edit --user=alice --user=ada');
    await cluster.succeeding(`create rolebinding edit --clusterrole=edit --user=alice -n ${pod.namespace}`);
  });
  after(() => platform.platform.succeeding(`delete serviceaccount ${IMPERSONATOR} -n platform-system`));

  function both(request: Omit<Request, 'body'>): Promise<{ status: number; user: unknown }[]> {
    return Promise.all(
      [platform.controlPlane, platform.impersonating].map((side) => platform.whoAmI(side, request)),
    );
  }

  /** Opens a watch over WebSocket, with a client certificate of alice, or with a token among `protocols`. */
  function open(
    origin: string,
    pair: Partial<KeyPair> = alice,
    protocols: readonly string[] = [],
  ): Promise<WebSocketClient> {
    const { url } = platform.impersonating;
    return WebSocketClient.connect({
      url: `${url.replace(/^https/, 'wss')}/api/v1/namespaces/default/configmaps?watch=true`,
      tls: { ca: platform.controlPlane.ca, ...pair, servername: 'localhost' },
      headers: { Origin: origin },
      protocols,
    });
  }

  it('names the component that is missing, also in the readiness check', async () => {
    const message = `the gateway cannot impersonate callers: no token of ServiceAccount platform-system/${IMPERSONATOR}; install the component gateway-impersonation`;
    expect(await platform.readiness(platform.impersonating)).to.equal(message);
    expect(await platform.whoAmI(platform.impersonating, { pair: carol })).to.deep.equal({
      status: 503,
      user: message,
    });
  });

  it('is off by default: the response says what to do with a client certificate', async () => {
    expect(await platform.whoAmI(platform.passthrough, { pair: carol })).to.deep.equal({
      status: 403,
      user: 'forbidden: the gateway cannot forward a client certificate: use a token, or set gateway.impersonation to "certificates"',
    });
  });

  for (const component of COMPONENTS) {
    describe(`with the component ${component}`, () => {
      const isConstrained = component === 'gateway-constrained-impersonation';

      before(async () => {
        await platform.install(component);
        await until(
          async () => (await platform.whoAmI(platform.impersonating, { pair: alice })).status === 201,
        );
      });

      it('is ready', async () => {
        expect(await platform.readiness(platform.impersonating)).to.equal(
          `impersonates callers with ServiceAccount platform-system/${IMPERSONATOR}`,
        );
      });

      it('has the identity of the client certificate', async () => {
        const [direct, through] = await both({ pair: alice });
        expect(through).to.deep.equal(direct);
        expect(direct?.user).to.have.property('username', 'alice');
        expect(direct?.user).to.have.property('extra');
      });

      for (const [title, headers] of Object.entries(ALLOWED)) {
        it(`has the identity of kubectl ${title}`, async () => {
          const [direct, through] = await both({ pair: alice, headers });
          expect(direct?.status).to.equal(201);
          expect(through).to.deep.equal(direct);
        });
      }

      for (const [title, [status, headers]] of Object.entries(REJECTED)) {
        it(`rejects what kube-apiserver rejects: ${title}`, async () => {
          const [direct, through] = await both({ pair: alice, headers });
          expect([direct?.status, through?.status]).to.deep.equal([status, status]);
        });
      }

      it('has the permissions of an anonymous user with --as', async () => {
        const [direct, through] = await both({
          pair: alice,
          headers: ['Impersonate-User: system:anonymous'],
        });
        expect(direct?.status).to.equal(403);
        expect(through).to.deep.equal(direct);
      });

      it('rejects impersonation by a caller without the permission', async () => {
        const [direct, through] = await both({ pair: carol, headers: ['Impersonate-User: bob'] });
        expect([direct?.status, through?.status]).to.deep.equal([403, 403]);
        expect(through?.user).to.equal(
          'users "bob" is forbidden: User "carol" cannot impersonate resource "users" in API group "" at the cluster scope',
        );
      });

      it('grants the ServiceAccount nothing without the headers', async () => {
        const token = await platform.gateway.serviceAccountToken('platform-system', IMPERSONATOR);
        const { body, status } = await platform.send(platform.controlPlane, PODS, { token });
        expect(status).to.equal(403);
        expect(body.toString('utf8')).to.contain(`User \\"${IMPERSONATOR_USER}\\" cannot list`);
      });

      it('grants the server nothing but tokens of this ServiceAccount', async () => {
        const allowed = (attributes: object): Promise<boolean> =>
          platform.isAllowed(SERVICE_ACCOUNT, { namespace: 'platform-system', ...attributes });
        const token = { verb: 'create', resource: 'serviceaccounts', subresource: 'token' };
        expect(await allowed({ ...token, name: IMPERSONATOR })).to.equal(true);
        expect(await allowed({ ...token, name: 'default' })).to.equal(false);
        for (const resource of ['users', 'groups', 'serviceaccounts']) {
          expect(await allowed({ verb: 'impersonate', resource }), resource).to.equal(false);
          const group = 'authentication.k8s.io';
          expect(await allowed({ verb: 'impersonate:user-info', group, resource }), resource).to.equal(false);
        }
      });

      it('keeps the headers that a Connection header names', async () => {
        const headers = ['Connection: close, Impersonate-User, Authorization, impersonate-group'];
        const [direct] = await both({ pair: alice });
        expect(await platform.whoAmI(platform.impersonating, { pair: alice, headers })).to.deep.equal(direct);
      });

      it('refuses system:masters', async () => {
        const refusal =
          'forbidden: the gateway does not impersonate members of system:masters; use a token, or connect to kube-apiserver directly';
        const headers = ['Impersonate-User: bob', 'Impersonate-Group: system:masters'];
        for (const request of [{ pair: admin }, { pair: admin, headers }]) {
          expect(await platform.whoAmI(platform.impersonating, request)).to.deep.equal({
            status: 403,
            user: refusal,
          });
        }
      });

      it(`${isConstrained ? 'cannot' : 'could'} impersonate system:masters with a stolen token`, async () => {
        const token = await platform.gateway.serviceAccountToken('platform-system', IMPERSONATOR);
        const headers = ['Impersonate-User: bob', 'Impersonate-Group: system:masters'];
        const { status } = await platform.whoAmI(platform.controlPlane, { token, headers });
        expect(status).to.equal(isConstrained ? 403 : 201);
      });

      it('lets the certificate decide beside a token, as kube-apiserver does', async () => {
        const token = await platform.gateway.serviceAccountToken('default', 'default');
        const [direct, through] = await both({ pair: carol, token });
        expect(direct?.user).to.have.property('username', 'carol');
        expect(through).to.deep.equal(direct);
      });

      // Otherwise, kube-apiserver authorizes the impersonation of each group for each request.
      if (isConstrained) {
        it('costs no authorization for each of 300 groups', async () => {
          const groups = Array.from({ length: 300 }, (_, index) => `team-${index}`);
          const pair = await platform.certificateOf('many', groups);
          const [direct, through] = await both({ pair });
          expect(through).to.deep.equal(direct);
          const before = await authorizations(platform);
          const requests = 10;
          for (let sent = 0; sent < requests; sent++) {
            expect((await platform.whoAmI(platform.impersonating, { pair })).status).to.equal(201);
          }
          expect((await authorizations(platform)) - before).to.be.at.most(2 * requests);
        });
      }

      for (const webSockets of [true, false]) {
        it(`serves exec by ${webSockets ? 'WebSocket' : 'SPDY'} with a client certificate`, async () => {
          const { pod, platform: cluster } = platform.gateway;
          const kubeconfig = await platform.kubeconfigAt(platform.impersonating, 'alice');
          const line = `--kubeconfig ${kubeconfig} -n ${pod.namespace} exec -i ${pod.name} -- cat`;
          const env = {
            ...cluster.environment(),
            KUBECTL_REMOTE_COMMAND_WEBSOCKETS: String(webSockets),
          };
          const exec = spawn(cluster.controlPlane.kubectl, line.split(' '), { env });
          exec.stdin.write('the input\n');
          // Before the end of the program: at kube-apiserver too, one in twenty outputs is lost if the program ends at once.
          const [output] = (await once(exec.stdout, 'data')) as [Buffer];
          expect(String(output)).to.equal('the input\n');
          exec.kill();
        });
      }
    });
  }

  describe('of any caller', () => {
    it('shows both users in the audit log of kube-apiserver, with the Audit-ID of the response', async () => {
      const reply = await platform.send(platform.impersonating, PODS, { pair: alice });
      const auditID = reply.header('audit-id') ?? '';
      expect(auditID).to.match(/^[-\w]{20,}$/);
      await until(async () => (await platform.gateway.auditLog.records(auditID)).length > 0);
      const [record] = await platform.gateway.auditLog.records(auditID);
      expect(record).to.have.nested.property('user.username', IMPERSONATOR_USER);
      expect(record).to.have.nested.property('impersonatedUser.username', 'alice');
      expect(record).to.have.nested.property('sourceIPs[0]', '127.0.0.1');
    });

    it('is not available to pages of other origins', async () => {
      const status = async (origin: string): Promise<number> =>
        (await platform.whoAmI(platform.impersonating, { pair: carol, headers: [`Origin: ${origin}`] }))
          .status;
      expect(await status('https://elsewhere.example')).to.equal(403);
      expect(await status('null')).to.equal(403);
      expect(await status(platform.impersonating.url)).to.equal(201);
      expect(await status(ALLOWED_ORIGIN)).to.equal(201);
    });

    it('accepts a WebSocket with a client certificate from its own origin only', async () => {
      const own = await open(platform.impersonating.url);
      expect(own.status).to.equal(101);
      expect((await own.next())[0]).to.equal('text');
      own.close();
      const other = await open('https://elsewhere.example');
      expect(other.status).to.equal(403);
      other.close();
    });

    it('is counted by verb, code and upgrade', async () => {
      const counted = (labels: string): Promise<number> =>
        platform.gateway.metric(`gateway_requests_total{${labels}}`, platform.impersonating);
      const labels = ['verb="list",code="403",upgrade=""', 'verb="watch",code="101",upgrade="websocket"'];
      const before = await Promise.all(labels.map(counted));
      await platform.send(platform.impersonating, PODS, { pair: carol });
      (await open(platform.impersonating.url)).close();
      for (const [index, each] of labels.entries()) {
        await until(async () => (await counted(each)) === (before[index] ?? 0) + 1);
      }
    });

    it('serves users of this server at a kube-apiserver that does not trust its issuer, until they sign out', async () => {
      const token = await platform.signIn(platform.impersonating, 'ada', ['readers']);
      expect((await platform.whoAmI(platform.controlPlane, { token })).status).to.equal(401);
      const { status, user } = await platform.whoAmI(platform.impersonating, { token });
      expect(status).to.equal(201);
      expect(user).to.deep.include({ username: 'ada', groups: ['readers', 'system:authenticated'] });
      expect(user).to.have.property('uid').that.is.a('string');
      expect(user)
        .to.have.property('extra')
        .that.has.property('authentication.kubernetes.io/credential-id')
        .that.matches(/^JTI=ks\./);
      // A console at another origin proves with the token that its user has signed in there.
      const encoded = Buffer.from(token).toString('base64url');
      const watch = await open('https://elsewhere.example', {}, [
        `base64url.bearer.authorization.k8s.io.${encoded}`,
        'base64.binary.k8s.io',
      ]);
      expect(watch.status).to.equal(101);
      watch.close();
      await platform.signOut(platform.impersonating, token);
      await until(async () => (await platform.whoAmI(platform.impersonating, { token })).status === 401);
    });

    it('serves users with the ID tokens of an accepted client', async () => {
      await platform.signIn(platform.impersonating, 'ida', ['readers']);
      const client = { client_id: ID_TOKEN_CLIENT };
      const token = await platform.tokenOf(platform.impersonating, 'ida', 'id_token', client);
      const { user } = await platform.whoAmI(platform.impersonating, { token });
      expect(user).to.deep.include({ username: 'ida', groups: ['readers', 'system:authenticated'] });
      const { status } = await platform.whoAmI(platform.passthrough, { token });
      expect(status, 'of another issuer at the other server').to.equal(401);
    });

    it('forwards other tokens as they are', async () => {
      const token = await platform.gateway.serviceAccountToken('default', 'default');
      const [direct, through] = await both({ token });
      expect(through).to.deep.equal(direct);
      const anonymous = await both({});
      expect(anonymous[1]).to.deep.equal(anonymous[0]);
    });
  });
});

/** The number of authorizations of impersonation in kube-apiserver. */
async function authorizations({ controlPlane }: FallbackPlatform): Promise<number> {
  const { body } = await controlPlane.client.expect('/metrics', {}, [200]);
  const samples = body.matchAll(/^apiserver_impersonation_authorization_attempts_total\{[^}]*\} (\d+)$/gm);
  return samples.reduce((sum, [, count]) => sum + Number(count), 0);
}
