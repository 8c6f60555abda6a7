// Attacks on the identity of a caller at the gateway. Each spelling of a credential is also sent to kube-apiserver
// itself: both servers see the same user, or the gateway responds 401 and sends nothing.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { record, recordIn } from '../../../apis/reading/unknown-value.ts';
import { until } from '../../support/until.ts';
import { wholeLines } from '../../support/whole-lines.ts';
import type { GatewayPlatform, Side } from '../gateway/gateway-platform.ts';
import { openStream, rawRequest } from '../gateway/raw-request.ts';
import { filled, HEADERS, PREFIX, PROTOCOL, PROTOCOLS, titleOf, WEBSOCKET } from './credential-spellings.ts';
import { sharedCredentials } from './shared-credentials.ts';

describe('attacks on credentials', () => {
  let gateway: GatewayPlatform;
  let token: string;
  let exec: string;

  before(async () => {
    gateway = await sharedCredentials();
    token = await gateway.signIn('ada');
    const { namespace, name } = gateway.pod;
    exec = `/api/v1/namespaces/${namespace}/pods/${name}/exec?command=true&stdout=true`;
  });

  /** The user of a request in the audit log of kube-apiserver; undefined if the request has not arrived, or was a 401. */
  async function userAt(side: Side, target: string, lines: readonly string[]) {
    const id = randomUUID();
    const all = [`GET ${target} HTTP/1.1`, `Audit-ID: ${id}`, ...lines];
    const isUpgrade = lines.includes('Upgrade: websocket') && lines.includes('Connection: Upgrade');
    const { status } = isUpgrade ? await upgraded(side, all) : await rawRequest(gateway.target(side), all);
    // A request that arrives later than all others; the audit log has it, so it would have this one too.
    const control = randomUUID();
    await rawRequest(gateway.target('direct'), [`GET /version HTTP/1.1`, `Audit-ID: ${control}`]);
    await until(async () => (await gateway.auditLog.records(control)).length > 0);
    const records = await gateway.auditLog.records(id);
    const users = records.flatMap((each) => {
      const { username } = recordIn(each, 'user');
      return typeof username === 'string' ? [username] : [];
    });
    return { status, arrived: records.length > 0, user: [...new Set(users)].join(' and '), id };
  }

  async function upgraded(side: Side, lines: readonly string[]) {
    const { response, socket } = await openStream(gateway.target(side), lines);
    socket.destroy();
    return response;
  }

  async function check(target: string, lines: readonly string[], text = token): Promise<void> {
    const given = filled(lines, text);
    const [direct, through] = await Promise.all([
      userAt('direct', target, given),
      userAt('gateway', target, given),
    ]);
    const shown = titleOf(lines);
    if (through.status === 400 || through.status === 401) {
      expect(through.arrived, `${shown} is ${through.status} and not forwarded`).to.equal(false);
      return;
    }
    expect(through.status, shown).to.be.oneOf([101, 200, 403]);
    expect(through.user, shown).to.equal(direct.user).and.to.not.equal('');
    expect(await loggedUser(through.id), `${shown} in the log of the server`).to.equal(through.user);
  }

  /** The user in the access log of the server. */
  async function loggedUser(id: string): Promise<unknown> {
    const find = async (): Promise<string | undefined> =>
      wholeLines(await gateway.serverLog()).find((line) => line.includes(id) && line.includes('"latency"'));
    await until(async () => (await find()) !== undefined);
    return record(JSON.parse((await find()) ?? ''))['user'];
  }

  const NAMESPACE = '/api/v1/namespaces/default';

  for (const headers of HEADERS) {
    it(`see one user with ${titleOf(headers)}`, () => check(NAMESPACE, headers));
  }

  for (const [first = '', ...others] of PROTOCOLS) {
    const lines = [first, ...others].map((line) =>
      line.startsWith('Authorization') ? line : `Sec-WebSocket-Protocol: ${line}`,
    );
    it(`see one user in a WebSocket with ${titleOf(lines)}`, () => check(exec, [...WEBSOCKET, ...lines]));
  }

  it('see no token in the query', async () => {
    await check(`${NAMESPACE}?access_token=${token}`, []);
  });

  it('accept what clients send', async () => {
    for (const lines of [['Authorization: Bearer T'], ['authorization: bearer T']]) {
      expect(await userAt('gateway', NAMESPACE, filled(lines, token))).to.include({
        status: 200,
        user: 'ada',
      });
    }
    const protocols = [`Sec-WebSocket-Protocol: ${PREFIX}E, ${PROTOCOL}`];
    const { status, user } = await userAt('gateway', exec, [...WEBSOCKET, ...filled(protocols, token)]);
    expect(status).to.be.oneOf([101, 403]);
    expect(user).to.equal('ada');
  });

  it('give nothing to a revoked token, however it is written', async () => {
    const revoked = await gateway.signIn('ada');
    await gateway.signOut(revoked);
    for (const lines of [
      ['Authorization: Bearer T'],
      ['Authorization: \xc2\xa0Bearer T'],
      ['Authorization: Bearer T\xc2\xa0'],
      [...WEBSOCKET, `Sec-WebSocket-Protocol: ${PREFIX}E, ${PROTOCOL}`],
      [...WEBSOCKET, `Sec-WebSocket-Protocol: ${PREFIX}E, ${PROTOCOL}`, 'Authorization: Basic YTpi'],
    ]) {
      const result = await userAt('gateway', lines.length > 1 ? exec : NAMESPACE, filled(lines, revoked));
      expect(result, JSON.stringify(lines)).to.include({ status: 401, arrived: false });
    }
  });

  it('are a 401 at the own APIs too, except where OAuth clients send Basic', async () => {
    const nodes = '/kapis/resources.platform.io/v1alpha3/nodes';
    for (const value of ['Basic YTpi', '\xc2\xa0Bearer T', 'Bearer  T', '', 'Negotiate x']) {
      const lines = filled([`Authorization: ${value}`], token);
      const { status } = await gateway.raw('gateway', [`GET ${nodes} HTTP/1.1`, ...lines]);
      expect(status, value).to.equal(401);
    }
    const basic = `Authorization: Basic ${Buffer.from('platform:platform').toString('base64')}`;
    const body = `token=${token}`;
    const { status } = await gateway.raw(
      'gateway',
      [
        'POST /oauth/introspect HTTP/1.1',
        basic,
        'Content-Type: application/x-www-form-urlencoded',
        `Content-Length: ${body.length}`,
      ],
      body,
    );
    expect(status).to.equal(200);
  });
});
