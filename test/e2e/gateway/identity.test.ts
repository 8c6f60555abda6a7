// Tests of the identity with which requests through the gateway arrive at kube-apiserver.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { record } from '../../../apis/reading/unknown-value.ts';
import { Client } from '../../../hack/control-plane/client.ts';
import { SESSION_ENDED } from '../../../server/oauth/tokens/revocation-check.ts';
import { until } from '../../support/until.ts';
import { wholeLines } from '../../support/whole-lines.ts';
import { type GatewayPlatform, SIDES, type Side } from './gateway-platform.ts';
import { openStream, type RawResponse, type RawTarget, rawRequest } from './raw-request.ts';
import { reviewed, SELF_REVIEW, SELF_REVIEWS } from './self-review.ts';
import { sharedGateway } from './shared-gateway.ts';
import { WebBackend } from './web-backend.ts';

const REVIEW = JSON.stringify(SELF_REVIEW);

describe('the identity at kube-apiserver', () => {
  let gateway: GatewayPlatform;
  let token: string;

  before(async () => {
    gateway = await sharedGateway();
    token = await gateway.signIn('ada');
  });

  /** Status and user of a SelfSubjectReview. */
  async function whoAmI(
    side: Side,
    headers: readonly string[],
    pair: Partial<RawTarget> = {},
  ): Promise<object> {
    return reviewed(await review(side, headers, pair));
  }

  function review(
    side: Side,
    headers: readonly string[],
    pair: Partial<RawTarget> = {},
  ): Promise<RawResponse> {
    const framing = headers.some((line) => line.startsWith('Transfer-Encoding'))
      ? []
      : [`Content-Length: ${REVIEW.length}`];
    return rawRequest(
      { ...gateway.target(side), ...pair },
      [`POST ${SELF_REVIEWS} HTTP/1.1`, 'Content-Type: application/json', ...framing, ...headers],
      REVIEW,
    );
  }

  const bearer = (): string => `Authorization: Bearer ${token}`;
  const jane = 'Impersonate-User: jane';

  /** Headers, and the user as whom a request with the token of ada runs. */
  const cases: readonly (readonly [title: string, user: string, headers: readonly string[]])[] = [
    ...[
      ['Connection: close, Impersonate-User'],
      ['Connection: IMPERSONATE-USER , close'],
      ['Connection: foo', 'Connection: impersonate-user', 'connection:\timpersonate-user,close'],
      ['Connection:close,,Impersonate-User,'],
      ['Connection: close', 'Keep-Alive: Impersonate-User', 'Proxy-Connection: Impersonate-User'],
    ].map((lines) => [lines.join(' | '), 'jane', [...lines, jane]] as const),
    ...[
      'Authorization',
      'authorization, X-Remote-User',
      'X-Remote-User, X-Remote-Group',
      'Audit-ID',
      'Host',
    ].map(
      (names) =>
        [
          `Connection: ${names}`,
          'ada',
          [`Connection: close, ${names}`, 'X-Remote-User: root', 'X-Remote-Group: system:masters'],
        ] as const,
    ),
    ['Impersonate_User', 'ada', ['Impersonate_User: jane', 'Impersonate.User: jane', 'X_Remote_User: root']],
    ['odd case', 'jane', ['iMPERSONATE-uSER: jane']],
    ['duplicated user', 'jane', [jane, 'Impersonate-User: jim']],
    ['duplicated groups', 'jane', [jane, 'Impersonate-Group: a', 'Impersonate-Group: b']],
  ];
  for (const [title, user, headers] of cases) {
    it(`is the same with ${title}`, async () => {
      const [direct, through] = await Promise.all(SIDES.map((side) => whoAmI(side, [bearer(), ...headers])));
      expect(through).to.deep.equal(direct);
      expect(through).to.have.nested.property('user.username', user);
    });
  }

  it('is not changed by trailers', async () => {
    const chunked = `${REVIEW.length.toString(16)}\r\n${REVIEW}\r\n0\r\n${jane}\r\nX-Remote-User: root\r\n\r\n`;
    const [direct, through] = await Promise.all(
      SIDES.map(async (side) =>
        reviewed(
          await gateway.raw(
            side,
            [
              `POST ${SELF_REVIEWS} HTTP/1.1`,
              'Content-Type: application/json',
              'Transfer-Encoding: chunked',
              'Trailer: Impersonate-User, X-Remote-User',
              bearer(),
            ],
            chunked,
          ),
        ),
      ),
    );
    expect(through).to.deep.equal(direct);
    expect(through).to.have.nested.property('user.username', 'ada');
  });

  it('is that of the token beside a client certificate, in both logs', async () => {
    const { cert, key } = await gateway.platform.controlPlane.pki.issueClient({
      cn: 'mallory',
      o: ['system:masters'],
    });
    const id = randomUUID();
    const through = await whoAmI('gateway', [bearer(), `Audit-ID: ${id}`], { cert, key });
    expect(through).to.deep.equal(await whoAmI('direct', [bearer()]));
    expect(await audited(id)).to.have.nested.property('user.username', 'ada');
    expect((await logged(id))[0]).to.include({ user: 'ada' });
  });

  it('is the same for every kind of credential', async () => {
    const serviceAccount = await gateway.serviceAccountToken('default', 'default');
    const credentials = [
      [bearer()],
      [`Authorization: Bearer ${serviceAccount}`],
      [],
      ['Authorization: Bearer invalid'],
      [`Authorization: Bearer ${token}x`],
      [`Authorization: Bearer ${serviceAccount}x`],
    ];
    const [direct = [], through = []] = await Promise.all(
      SIDES.map((side) => Promise.all(credentials.map((headers) => whoAmI(side, headers)))),
    );
    expect(through).to.deep.equal(direct);
    expect(through.map((review) => record(review)['status'])).to.deep.equal([201, 201, 403, 401, 401, 401]);
  });

  it('is never that of another one of 1,000 parallel requests', async () => {
    const { server, controlPlane } = gateway.platform;
    const tokens = new Map([['ada', token]]);
    for (let account = 0; account < 20; account++) {
      const name = `parallel-${account}`;
      const request = { method: 'POST', body: { metadata: { name } } } as const;
      await controlPlane.client.expect('/api/v1/namespaces/default/serviceaccounts', request, [201]);
      const issued = await gateway.serviceAccountToken('default', name);
      tokens.set(`system:serviceaccount:default:${name}`, issued);
    }
    using client = new Client(server.url, { ca: controlPlane.ca }, 100);
    const callers = Array.from({ length: 1_000 }, (_, i) => [...tokens][i % tokens.size]);
    const seen = await Promise.all(
      callers.map(async ([, of] = ['', '']) => {
        const request = { method: 'POST', body: SELF_REVIEW, token: of } as const;
        const { status, body } = await client.send(SELF_REVIEWS, request);
        return record(reviewed({ status, body: Buffer.from(body) }).user)['username'];
      }),
    );
    expect(seen).to.deep.equal(callers.map(([user] = ['', '']) => user));
  });

  it('ends with the session: the next request gets 401, and streams end', async () => {
    await gateway.createUser('leaver', ['platform-admins']);
    await gateway.platform.bind('cluster-admin', '--user=leaver');
    const leaving = await gateway.signIn('leaver');
    const credentials = `Authorization: Bearer ${leaving}`;
    const { namespace, name } = gateway.pod;
    const pod = `/api/v1/namespaces/${namespace}/pods/${name}`;
    const command = 'command=sleep&command=300&stdout=true';
    const upgrade = [
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      'X-Stream-Protocol-Version: v4.channel.k8s.io',
    ];
    const streams = await Promise.all(
      [
        // Otherwise the connection stays open after the end of the watch, for the next request.
        ['GET /api/v1/pods?watch=true HTTP/1.1', credentials, 'Connection: close'],
        [`GET ${pod}/log?follow=true HTTP/1.1`, credentials],
        [`POST ${pod}/exec?${command} HTTP/1.1`, credentials, 'Content-Length: 0', ...upgrade],
      ].map((lines) => openStream(gateway.target('gateway'), lines)),
    );
    expect(streams.map(({ response }) => response.status)).to.deep.equal([200, 200, 101]);
    await gateway.signOut(leaving);
    expect(await whoAmI('gateway', [credentials])).to.deep.equal({ status: 401, user: SESSION_ENDED });
    await Promise.all(streams.map(({ ended }) => ended));
  });

  it('is that of a token in a WebSocket subprotocol, which no log contains', async () => {
    const encoded = Buffer.from(token).toString('base64url');
    const { namespace, name } = gateway.pod;
    const bearerProtocol = `base64url.bearer.authorization.k8s.io.${encoded}`;
    const open = (side: Side, id: string, protocols: string) =>
      openStream(gateway.target(side), [
        `GET /api/v1/namespaces/${namespace}/pods/${name}/exec?command=true&stdout=true HTTP/1.1`,
        `Audit-ID: ${id}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        `Sec-WebSocket-Protocol: ${protocols}`,
      ]);
    for (const side of SIDES) {
      const id = randomUUID();
      const { response, socket } = await open(side, id, `${bearerProtocol}, v4.channel.k8s.io`);
      expect(response.status).to.equal(101);
      expect(valuesOf(response, 'sec-websocket-protocol')).to.deep.equal(['v4.channel.k8s.io']);
      socket.destroy();
      expect(await audited(id)).to.have.nested.property('user.username', 'ada');
      if (side === 'gateway') expect((await logged(id))[0]).to.include({ audit: true, user: 'ada' });
      const rejected = randomUUID();
      expect((await open(side, rejected, bearerProtocol)).response.status).to.equal(401);
      if (side === 'gateway') expect(await logged(rejected)).to.not.have.length(0);
    }
    expect(await gateway.serverLog())
      .to.not.contain(encoded)
      .and.not.contain(token);
  });

  it('leaves no cookie to a backend, and no identity to a cookie', async () => {
    const backend = await WebBackend.start(gateway.platform, 'cookies');
    try {
      const cookies = 'Cookie: a=secret; __Host-sign-in=secret; __Host-session=secret';
      // A cookie authenticates no request.
      expect(
        (await gateway.raw('gateway', [`GET ${backend.path}/page HTTP/1.1`, cookies])).status,
      ).to.be.within(401, 403);
      const visit = (path: string): Promise<RawResponse> =>
        gateway.raw('gateway', [`GET ${backend.path}${path} HTTP/1.1`, bearer(), cookies]);
      expect(valuesOf(await visit('/page'), 'set-cookie')).to.deep.equal([]);
      // The gateway does not follow a redirect.
      expect((await visit('/redirect')).status).to.equal(302);
      expect(backend.requests.map(({ url }) => url)).to.deep.equal(['/page', '/redirect']);
      for (const { rawHeaders } of backend.requests) {
        expect(rawHeaders.join('\n')).to.not.contain('secret').and.not.contain(token);
      }
    } finally {
      await backend.stop();
    }
  });

  it('has the address of the connection, and one Audit-ID in both logs', async () => {
    const id = randomUUID();
    const forged = ['X-Forwarded-For: 203.0.113.1', 'X-Real-Ip: 203.0.113.2', 'Forwarded: for=203.0.113.3'];
    const response = await review('gateway', [bearer(), `Audit-ID: ${id}`, ...forged]);
    expect(valuesOf(response, 'audit-id')).to.deep.equal([id]);
    const { sourceIPs, user } = await audited(id);
    expect(sourceIPs).to.deep.equal(['127.0.0.1']);
    expect(user).to.have.property('username', 'ada');
    expect((await logged(id))[0]).to.include({ source: '127.0.0.1', user: 'ada' });
  });

  /** The record of a request in the audit log of kube-apiserver. */
  async function audited(id: string): Promise<Readonly<Record<string, unknown>>> {
    await until(async () => (await gateway.auditLog.records(id)).length > 0);
    return record((await gateway.auditLog.records(id))[0]);
  }

  /** The lines of a request in the log of the server. */
  async function logged(id: string): Promise<Readonly<Record<string, unknown>>[]> {
    const lines = async (): Promise<string[]> =>
      wholeLines(await gateway.serverLog()).filter((line) => line.includes(id));
    await until(async () => (await lines()).length > 0);
    return (await lines()).map((line) => record(JSON.parse(line)));
  }
});

function valuesOf({ headers }: RawResponse, name: string): string[] {
  return headers.filter(([own]) => own === name).map(([, value]) => value);
}
