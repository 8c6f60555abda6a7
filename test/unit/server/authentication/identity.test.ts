// Tests of the authenticator chain over real TLS: front proxy, client certificates, anonymous callers. After a
// rejection by one authenticator, no other authenticator may accept the request.
import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Agent } from 'node:https';
import { TLSSocket } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { expect } from 'chai';
import { newUnauthorized, StatusError } from '../../../../apis/meta/v1/errors.ts';
import { AuthenticatorChain } from '../../../../server/authentication/authenticator-chain.ts';
import { subjectOf } from '../../../../server/authentication/certificate-subject.ts';
import { ClientCertificateAuthenticator } from '../../../../server/authentication/client-certificate.ts';
import {
  type DelegatedAuthentication,
  parseDelegatedAuthentication,
} from '../../../../server/authentication/delegated-authentication.ts';
import { FrontProxyAuthenticator } from '../../../../server/authentication/front-proxy.ts';
import { FrontProxyStatus } from '../../../../server/authentication/front-proxy-status.ts';
import { PeerCertificates } from '../../../../server/authentication/peer-certificates.ts';
import { sessionCheckedAuthentication } from '../../../../server/authentication/session-check.ts';
import type { UserInfo } from '../../../../server/authentication/user.ts';
import { type Issued, issue, newCA } from '../../../support/certificates.ts';
import { startTls, type TlsFixture } from './tls-fixture.ts';

const HOUR = 3_600_000;
const REVOKED = 'ks.s-abcdefghijklmnopqrst.AAAAAAAAAAAAAAAA';
const ROOT = ['X-Remote-User', 'root', 'X-Remote-Group', 'system:masters'];

describe('the identity of a caller', () => {
  let clusterCA: Issued;
  let proxyCA: Issued;
  let proxy: Issued;
  let alice: Issued;
  let server: TlsFixture;
  let settings: DelegatedAuthentication | undefined;
  let secure = true;
  let resumed = false;
  let now = Date.now;
  let monotonic = 0;
  let warnings: unknown[] = [];
  let frontProxyStatus: FrontProxyStatus;

  function publish(changes: Record<string, string> = {}): void {
    const data = {
      'client-ca-file': clusterCA.cert,
      'requestheader-client-ca-file': proxyCA.cert,
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      ...changes,
    };
    settings = parseDelegatedAuthentication(data, (settings?.generation ?? 0) + 1);
  }

  before(async () => {
    [clusterCA, proxyCA] = await Promise.all([newCA('cluster'), newCA('front proxy')]);
    [proxy, alice] = await Promise.all([
      issue(proxyCA, { cn: 'front-proxy-client' }),
      issue(clusterCA, { cn: 'alice', o: ['dev', 'a,system:masters'] }),
    ]);
    const config = { current: () => settings };
    const peers = new PeerCertificates(() => now());
    frontProxyStatus = new FrontProxyStatus(
      config,
      { warn: (line: unknown) => void warnings.push(line) },
      () => monotonic,
    );
    const chain = new AuthenticatorChain(
      [
        sessionCheckedAuthentication(new FrontProxyAuthenticator(config, peers, frontProxyStatus), {
          check: (jti) => {
            if (jti === REVOKED) throw newUnauthorized(new Error('the session was terminated'));
          },
        }),
        new ClientCertificateAuthenticator(config, peers),
      ],
      { anonymous: true },
    );
    server = await startTls([clusterCA, proxyCA], (request: IncomingMessage) => {
      resumed = request.socket instanceof TLSSocket && request.socket.isSessionReused();
      return chain.authenticate({ request, secure, signal: new AbortController().signal });
    });
  });

  beforeEach(() => {
    secure = true;
    now = Date.now;
    // The rejections of the test before are no longer shown.
    monotonic += 600_000;
    warnings = [];
    publish();
  });

  after(() => server.stop());

  async function userOf(...options: Parameters<TlsFixture['send']>): Promise<UserInfo> {
    const result = await server.send(...options);
    if (result instanceof Error) throw result;
    return result as UserInfo;
  }

  async function refusalOf(...options: Parameters<TlsFixture['send']>): Promise<StatusError> {
    const result = await server.send(...options);
    if (!(result instanceof StatusError)) throw new Error(`accepted as ${JSON.stringify(result)}`);
    return result;
  }

  describe('through the front proxy', () => {
    it('is the user of the headers; empty values are ignored, and no group is split', async () => {
      const headers = [
        ['X-Remote-User', 'bob'],
        ['X-Remote-Uid', 'u-1'],
        ['X-Remote-Group', 'dev'],
        ['X-Remote-Group', 'a,system:masters'],
        ['X-Remote-Group', ''],
        ['X-Remote-User', ''],
        ['X-Remote-Extra-Scopes', 'a'],
        ['X-Remote-Extra-Scopes', 'b'],
        ['X-Remote-Extra-Example.com%2fKey', 'c'],
      ].flat();
      expect(await userOf({ client: proxy, headers })).to.deep.equal({
        name: 'bob',
        uid: 'u-1',
        groups: ['dev', 'a,system:masters', 'system:authenticated'],
        extra: { scopes: ['a', 'b'], 'example.com/key': ['c'] },
      });
    });

    it('decodes keys of extra fields as kube-apiserver does', async () => {
      const headers = ['%41%42', 'a%252fb', 'c%', 'd%zz', '%c3%bc'].flatMap((key) => [
        `X-Remote-Extra-${key}`,
        'x',
      ]);
      const { extra } = await userOf({ client: proxy, headers: ['X-Remote-User', 'bob', ...headers] });
      expect(Object.keys(extra).sort()).to.deep.equal(['AB', 'a%2fb', 'c%', 'd%zz', 'ü']);
      const invalid = ['X-Remote-User', 'bob', 'X-Remote-Extra-%ff', 'x'];
      expect(await refusalOf({ client: proxy, headers: invalid })).to.include({ code: 401 });
    });

    it('decodes names as UTF-8', async () => {
      const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
      const headers = ['X-Remote-User', latin1('jürgen 名'), 'X-Remote-Group', latin1('gäste')];
      const { name, groups } = await userOf({ client: proxy, headers });
      expect([name, groups[0]]).to.deep.equal(['jürgen 名', 'gäste']);
    });

    it('keeps a byte order mark, which makes another name', async () => {
      const marked = (text: string): string => Buffer.from(`\ufeff${text}`).toString('latin1');
      const headers = ['X-Remote-User', marked('admin'), 'X-Remote-Group', marked('system:masters')];
      headers.push('X-Remote-Extra-%ef%bb%bfkey', marked('value'));
      const { name, groups, extra } = await userOf({ client: proxy, headers });
      expect([name, groups[0], extra]).to.deep.equal([
        '\ufeffadmin',
        '\ufeffsystem:masters',
        { '\ufeffkey': ['\ufeffvalue'] },
      ]);
    });

    it('is never the proxy itself after a rejection, even with a shared CA', async () => {
      const powerful = await issue(clusterCA, { cn: 'front-proxy-client', o: ['system:masters'] });
      publish({ 'requestheader-client-ca-file': clusterCA.cert });
      const id = 'X-Remote-Extra-Authentication.kubernetes.io%2fcredential-id';
      const signedOut = ['X-Remote-User', 'bob', id, `JTI=${REVOKED}`];
      for (const headers of [signedOut, ['X-Remote-User', 'a\xff']]) {
        expect(await refusalOf({ client: powerful, headers })).to.include({ code: 401 });
      }
    });

    it('uses the uid header only if the cluster publishes it', async () => {
      publish({ 'requestheader-uid-headers': '[]' });
      const headers = ['X-Remote-User', 'bob', 'X-Remote-Uid', 'u-1'];
      expect((await userOf({ client: proxy, headers })).uid).to.equal('');
    });

    it('stays unauthenticated for an unauthenticated caller of the proxy', async () => {
      const headers = ['X-Remote-User', 'system:anonymous', 'X-Remote-Group', 'system:unauthenticated'];
      expect((await userOf({ client: proxy, headers })).groups).to.deep.equal(['system:unauthenticated']);
    });

    it('applies changed header names and allowed names immediately', async () => {
      publish({ 'requestheader-username-headers': '["X-Who"]', 'requestheader-allowed-names': '["other"]' });
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      expect(await refusalOf({ client: proxy, headers: ['X-Who', 'bob'], agent })).to.include({ code: 401 });
      publish({ 'requestheader-username-headers': '["X-Who"]', 'requestheader-allowed-names': '[]' });
      expect((await userOf({ client: proxy, headers: ['X-Who', 'bob'], agent })).name).to.equal('bob');
      agent.destroy();
    });

    it('rejects a request without a user name', async () => {
      expect(await refusalOf({ client: proxy, headers: ['X-Remote-Group', 'system:masters'] })).to.include({
        code: 401,
      });
    });
  });

  describe('with untrusted front-proxy headers', () => {
    it('is anonymous without a certificate', async () => {
      expect((await userOf({ headers: ROOT })).name).to.equal('system:anonymous');
    });

    it('is the user of the certificate when the cluster CA signed the proxy’s name', async () => {
      const rogue = await issue(clusterCA, { cn: 'front-proxy-client' });
      const { name, groups } = await userOf({ client: rogue, headers: ROOT });
      expect([name, groups]).to.deep.equal(['front-proxy-client', ['system:authenticated']]);
    });

    it('is anonymous over plain HTTP', async () => {
      secure = false;
      expect((await userOf({ client: proxy, headers: ROOT })).name).to.equal('system:anonymous');
      expect((await userOf({ client: alice })).name).to.equal('system:anonymous');
    });

    it('is anonymous when the cluster has no front proxy', async () => {
      publish({ 'requestheader-client-ca-file': '' });
      expect((await userOf({ headers: ROOT })).name).to.equal('system:anonymous');
    });

    it('returns 503 while the settings are not loaded', async () => {
      settings = undefined;
      expect(await refusalOf({ client: proxy, headers: ROOT })).to.include({ code: 503 });
      expect(await refusalOf({ headers: ROOT })).to.include({ code: 503 });
      expect(await refusalOf({ client: alice })).to.include({ code: 503 });
      expect((await userOf({})).name).to.equal('system:anonymous');
    });

    const rogues: Record<string, () => Promise<Issued>> = {
      'of an unknown CA': async () => issue(await newCA('front proxy'), { cn: 'front-proxy-client' }),
      'that only claims the issuer': async () =>
        issue(await newCA('x'), { cn: 'front-proxy-client', claimedIssuer: proxyCA }),
      'signed by itself': () => issue(undefined, { cn: 'front-proxy-client' }),
      'with another name': () => issue(proxyCA, { cn: 'someone' }),
      'without a name': () => issue(proxyCA, { o: ['front-proxy-client'] }),
      'that has expired': () =>
        issue(proxyCA, { cn: 'front-proxy-client', notAfter: new Date(Date.now() - 60_000) }),
      'for servers': () =>
        issue(proxyCA, { cn: 'front-proxy-client', purposes: [x509.ExtendedKeyUsage.serverAuth] }),
      'signed by a certificate that is not a CA': async () => issue(proxy, { cn: 'front-proxy-client' }),
    };
    for (const [what, make] of Object.entries(rogues)) {
      it(`rejects a certificate ${what}`, async () => {
        expect(await refusalOf({ client: await make(), headers: ROOT })).to.include({ code: 401 });
      });
    }

    it('reports the expected and presented certificate and the flag, once a minute', async () => {
      const someone = await issue(proxyCA, { cn: 'someone\nelse' });
      await refusalOf({ client: someone, headers: ROOT });
      await refusalOf({ client: someone, headers: ROOT });
      const described = frontProxyStatus.describe();
      expect(described).to.contain(
        'a client certificate of "CN=front proxy" with the name "front-proxy-client"',
      );
      expect(described).to.contain('last rejected: the name "someone?else"');
      expect(described).to.contain('--requestheader-allowed-names');
      expect(warnings.length).to.be.at.most(1);
    });

    it('reports a missing certificate, another CA, and a missing request-header CA', async () => {
      await userOf({ headers: ROOT });
      expect(frontProxyStatus.describe()).to.contain('last rejected: a request without a client certificate');
      expect((await userOf({ client: alice, headers: ROOT })).name).to.equal('alice');
      expect(frontProxyStatus.describe()).to.contain('last rejected: the certificate "alice": not signed by');
      // Its subject has no certain text.
      const raw = Buffer.from(new X509Certificate(alice.cert).raw);
      raw.fill(0xff, raw.lastIndexOf('dev'), raw.lastIndexOf('dev') + 1);
      const cert = `-----BEGIN CERTIFICATE-----\n${raw.toString('base64')}\n-----END CERTIFICATE-----\n`;
      monotonic += 600_000;
      expect((await refusalOf({ client: { ...alice, cert }, headers: ROOT })).code).to.equal(401);
      expect(frontProxyStatus.describe()).to.contain('last rejected: the certificate "alice": ');
      publish({ 'requestheader-client-ca-file': '' });
      await userOf({ headers: ROOT });
      expect(frontProxyStatus.describe()).to.contain('last rejected: no request-header CA is published');
    });

    it('accepts and reports any name without allowed names', async () => {
      publish({ 'requestheader-allowed-names': '[]' });
      const someone = await issue(proxyCA, { cn: 'someone' });
      expect((await userOf({ client: someone, headers: ROOT })).name).to.equal('root');
      await userOf({ headers: ROOT });
      expect(frontProxyStatus.describe()).to.contain(
        'a client certificate of "CN=front proxy" with any name',
      );
    });
  });

  describe('with a client certificate', () => {
    it('is the common name, in the groups of the organizations', async () => {
      const fingerprint = new X509Certificate(alice.cert).fingerprint256.replaceAll(':', '').toLowerCase();
      expect(await userOf({ client: alice })).to.deep.equal({
        name: 'alice',
        uid: '',
        groups: ['dev', 'a,system:masters', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
      });
    });

    it('has the uid of the subject; several uids are rejected, and a subject without a name is ignored', async () => {
      const [one, two, nameless] = await Promise.all([
        issue(clusterCA, { cn: 'carol', uid: ['7'] }),
        issue(clusterCA, { cn: 'carol', uid: ['7', '8'] }),
        issue(clusterCA, { o: ['system:masters'] }),
      ]);
      expect(await userOf({ client: one })).to.include({ name: 'carol', uid: '7' });
      expect(await refusalOf({ client: two })).to.include({ code: 401 });
      expect((await userOf({ client: nameless })).name).to.equal('system:anonymous');
    });

    it('is rejected if a proxy marks the request as forwarded, except that of the front proxy', async () => {
      const marks = [
        'X-Forwarded-For',
        'x-forwarded-uri',
        'X-FORWARDED-HOST',
        'Forwarded',
        'Via',
        'X-Real-Ip',
      ];
      for (const mark of marks) {
        expect(await refusalOf({ client: alice, headers: [mark, '10.0.0.1'] }), mark).to.include({
          code: 401,
        });
        const forwarded = ['X-Remote-User', 'bob', mark, '10.0.0.1'];
        expect((await userOf({ client: proxy, headers: forwarded })).name, mark).to.equal('bob');
      }
      expect(await refusalOf({ client: alice, headers: ['X-Forwarded-For', ''] })).to.include({ code: 401 });
    });

    it('is rejected if parsers read its subject differently', async () => {
      const { cert } = await issue(clusterCA, {
        cn: 'carol',
        o: ['ab', 'ü'.repeat(100), 'x'.repeat(300), ''],
      });
      const { raw } = new X509Certificate(cert);
      const groups = ['ab', 'ü'.repeat(100), 'x'.repeat(300), ''];
      expect(subjectOf(new X509Certificate(raw))).to.deep.equal({
        commonName: 'carol',
        organizations: groups,
        uids: [],
      });
      const at =
        [0x0c, 0x13]
          .map((type) => raw.indexOf(Buffer.from([type, 2, 0x61, 0x62])))
          .find((each) => each >= 0) ?? 0;
      const changes = [
        [0x13, 2, 0x61, 0xfc],
        [0x14, 2, 0x61, 0x62],
        [0x1e, 2, 0x00, 0x61],
      ];
      for (const bytes of changes) {
        const changed = Buffer.from(raw);
        changed.set(bytes, at);
        expect(() => subjectOf(new X509Certificate(changed)), bytes.join(' ')).to.throw('Unauthorized');
      }
    });

    it('is rejected on a kept connection while the CA is removed', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      expect((await userOf({ client: alice, agent })).name).to.equal('alice');
      publish({ 'client-ca-file': '' });
      expect(await refusalOf({ client: alice, agent })).to.include({ code: 401 });
      publish();
      expect((await userOf({ client: alice, agent })).name).to.equal('alice');
      agent.destroy();
    });

    it('is rejected on a kept connection when the certificate expires', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      expect((await userOf({ client: alice, agent })).name).to.equal('alice');
      const later = Date.now() + 2 * HOUR;
      now = () => later;
      expect(await refusalOf({ client: alice, agent })).to.include({ code: 401 });
      agent.destroy();
    });

    it('is rejected in a resumed session after its CA is removed', async () => {
      const agent = new Agent({ keepAlive: false });
      expect((await userOf({ client: alice, agent })).name).to.equal('alice');
      expect(resumed).to.equal(false);
      publish({ 'client-ca-file': '' });
      expect(await refusalOf({ client: alice, agent })).to.include({ code: 401 });
      expect(resumed).to.equal(true);
      agent.destroy();
    });

    it('accepts a certificate without key usage, and for any purpose', async () => {
      for (const purposes of [[], ['2.5.29.37.0']]) {
        const client = await issue(clusterCA, { cn: 'carol', purposes });
        expect((await userOf({ client })).name).to.equal('carol');
      }
    });

    it('rejects a certificate of the front-proxy CA', async () => {
      const user = await issue(proxyCA, { cn: 'root', o: ['system:masters'] });
      expect(await refusalOf({ client: user })).to.include({ code: 401 });
    });
  });
});
