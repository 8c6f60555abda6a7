// Tests of ID tokens at the gateway, with a kube-apiserver that accepts those of some clients.
import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import { SESSION_ENDED } from '../../../server/oauth/tokens/revocation-check.ts';
import { until } from '../../support/until.ts';
import { type GatewayPlatform, SIDES, type Side } from '../gateway/gateway-platform.ts';
import { openStream } from '../gateway/raw-request.ts';
import { type Reviewed, reviewed, SELF_REVIEW, SELF_REVIEWS } from '../gateway/self-review.ts';
import { PASSWORD, type Platform, RESOURCE } from '../platform.ts';
import {
  addUser,
  CLIENT,
  FACTORED_GROUP,
  OTHER_CLIENT,
  RS256_CLIENT,
  sharedConfigured,
  UNTRUSTED_CLIENT,
} from './shared-configured.ts';

const USER = 'ida';
const GROUPS = ['developers', 'system:authenticated'];
const UNAUTHORIZED = { status: 401, user: 'Unauthorized' };
const OVER = { status: 401, user: SESSION_ENDED };
const SEND_ACCESS_TOKEN = { status: 401, user: 'this is an ID token; send the access token' };

interface Tokens {
  readonly id: string;
  readonly access: string;
}

describe('an ID token at the gateway', () => {
  let gateway: GatewayPlatform;
  let platform: Platform;

  before(async () => {
    ({ gateway } = await sharedConfigured());
    ({ platform } = gateway);
    await platform.bind('platform-nodes-reader', '--group=developers');
    await platform.bind('view', '--group=developers');
    await addUser(platform, USER, { groups: ['developers'] });
  });

  async function signIn(client: string, user = USER): Promise<Tokens> {
    const form = { grant_type: 'password', username: user, password: PASSWORD, scope: 'openid groups' };
    const body = new URLSearchParams({ ...form, client_id: client });
    const response = await platform.ask('/oauth/token', { method: 'POST', body });
    return { id: text(response.body['id_token']), access: text(response.body['access_token']) };
  }

  async function whoAmI(side: Side, token: string): Promise<Reviewed> {
    const body = JSON.stringify(SELF_REVIEW);
    const lines = [`Authorization: Bearer ${token}`, 'Content-Type: application/json'];
    const length = `Content-Length: ${body.length}`;
    return reviewed(await gateway.raw(side, [`POST ${SELF_REVIEWS} HTTP/1.1`, length, ...lines], body));
  }

  /** Status and message of the response to a get at the server. */
  async function read(path: string, token: string): Promise<object> {
    const { status, body } = await platform.client.send(path, { token });
    return status === 200 ? { status } : { status, user: record(JSON.parse(body))['message'] };
  }

  for (const client of [CLIENT, RS256_CLIENT]) {
    it(`is the same user as at kube-apiserver, for client ${client}`, async () => {
      const { id } = await signIn(client);
      expect(decodeProtectedHeader(id).alg).to.equal(client === RS256_CLIENT ? 'RS256' : 'ES256');
      const [direct, through] = await Promise.all(SIDES.map((side) => whoAmI(side, id)));
      expect(through).to.deep.equal(direct);
      expect(through).to.have.nested.property('user.username', USER);
      expect(through).to.have.nested.property('user.groups').that.deep.equals(GROUPS);
    });
  }

  it('is accepted for all kinds, also those of this server, and nowhere else', async () => {
    const { id } = await signIn(CLIENT);
    for (const side of SIDES) {
      const nodes = await gateway.kubectl(side, id, 'get', RESOURCE, '-o', 'name');
      expect(nodes.stdout.trim().split('\n'), nodes.stderr).to.have.length(2);
      expect((await gateway.kubectl(side, id, 'get', 'pods', '-A')).code).to.equal(0);
    }
    const users = '/kapis/iam.platform.io/v1beta1/users';
    for (const path of [users, '/kapis/resources.platform.io/v1alpha3/pods']) {
      expect(await read(path, id), path).to.deep.equal(SEND_ACCESS_TOKEN);
    }
    const { status } = await platform.ask('/oauth/userinfo', { token: id });
    expect(status).to.equal(401);
    const body = new URLSearchParams({ oldPassword: PASSWORD, newPassword: `new ${PASSWORD}` });
    const change = await platform.ask(`${users}/${USER}/password`, { method: 'PUT', token: id, body });
    expect(change.status).to.equal(401);
  });

  it('of another client is rejected with the cure, which kubectl prints', async () => {
    const { id, access } = await signIn(OTHER_CLIENT);
    expect(await whoAmI('gateway', id)).to.deep.equal(SEND_ACCESS_TOKEN);
    expect(await whoAmI('direct', id)).to.deep.equal(UNAUTHORIZED);
    expect(await whoAmI('gateway', access)).to.have.nested.property('user.username', USER);
    const { code, stderr } = await gateway.kubectl('gateway', id, 'get', 'pods');
    expect(code).to.equal(1);
    expect(stderr).to.include('this is an ID token; send the access token');
  });

  it('that is not genuine gets no explanation', async () => {
    const { id } = await signIn(OTHER_CLIENT);
    const [header = '', payload = '', signature = ''] = id.split('.');
    const other = (await signIn(OTHER_CLIENT)).id.split('.')[2];
    const renamed = Buffer.from(JSON.stringify({ ...decodeJwt(id), aud: CLIENT })).toString('base64url');
    for (const token of [`${header}.${payload}.${other}`, `${header}.${renamed}.${signature}`]) {
      expect(await whoAmI('gateway', token)).to.deep.equal(UNAUTHORIZED);
      expect(await read('/kapis/iam.platform.io/v1beta1/users', token)).to.deep.equal(UNAUTHORIZED);
    }
  });

  it('of a client that kube-apiserver does not know gets 503 with the cure, which is also in the readiness check', async () => {
    const { id } = await signIn(UNTRUSTED_CLIENT);
    const { status, user } = await whoAmI('gateway', id);
    expect(status).to.equal(503);
    expect(user).to.match(/^kube-apiserver rejects the ID tokens of client "untrusted": add the client /);
    const { body } = await platform.client.send('/readyz?verbose');
    expect(body).to.match(/^\[\+\]gateway ok: .*kube-apiserver rejects the ID tokens of client "untrusted"/m);
    await until(async () =>
      /[:;] kube-apiserver accepts the ID tokens of client "kubectl"/.test(
        (await platform.client.send('/readyz?verbose')).body,
      ),
    );
  });

  it('ends with its session, as do its streams', async () => {
    const { id } = await signIn(CLIENT);
    const { response, ended } = await openStream(gateway.target('gateway'), [
      'GET /api/v1/pods?watch=true HTTP/1.1',
      `Authorization: Bearer ${id}`,
      'Connection: close',
    ]);
    expect(response.status).to.equal(200);
    const { status } = await platform.client.send(`/oauth/logout?id_token_hint=${id}`);
    expect(status).to.equal(200);
    expect(await whoAmI('gateway', id)).to.deep.equal(OVER);
    expect(await read(`/apis/${RESOURCE.slice(RESOURCE.indexOf('.') + 1)}/v1alpha3/nodes`, id)).to.deep.equal(
      OVER,
    );
    await ended;
  });

  it('is the same in the sub-protocol of a WebSocket as in a header', async () => {
    const { id } = await signIn(CLIENT);
    const other = await signIn(OTHER_CLIENT);
    const statusOf = async (path: string, token: string): Promise<number> => {
      const encoded = Buffer.from(token).toString('base64url');
      const { response, socket } = await openStream(gateway.target('gateway'), [
        `GET ${path}?watch=true HTTP/1.1`,
        // kube-apiserver requires an origin.
        'Origin: https://console.example.com',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        `Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.${encoded}, base64.binary.k8s.io`,
      ]);
      socket.destroy();
      return response.status;
    };
    expect(await statusOf('/api/v1/pods', id)).to.equal(101);
    expect(await statusOf('/kapis/resources.platform.io/v1alpha3/pods', id)).to.equal(401);
    expect(await statusOf('/api/v1/pods', other.id)).to.equal(401);
    await platform.client.send(`/oauth/logout?id_token_hint=${id}`);
    expect(await statusOf('/api/v1/pods', id)).to.equal(401);
  });

  it('is rejected once its user needs a second factor', async () => {
    await addUser(platform, 'factored-ida', { groups: ['developers'] });
    const { id } = await signIn(CLIENT, 'factored-ida');
    expect(await whoAmI('gateway', id)).to.have.property('status', 201);
    await platform.succeeding(
      `patch user factored-ida --type=merge -p {"spec":{"groups":["developers","${FACTORED_GROUP}"]}}`,
    );
    await until(async () => (await whoAmI('gateway', id)).status === 401);
  });
});
