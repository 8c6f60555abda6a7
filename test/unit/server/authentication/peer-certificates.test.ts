// Tests of the verification of TLS client certificates.
import type { IncomingMessage } from 'node:http';
import { Agent } from 'node:https';
import { expect } from 'chai';
import {
  type DelegatedAuthentication,
  parseDelegatedAuthentication,
} from '../../../../server/authentication/delegated-authentication.ts';
import { PeerCertificates, type PeerVerdict } from '../../../../server/authentication/peer-certificates.ts';
import { type Issued, issue, newCA } from '../../../support/certificates.ts';
import { startTls, type TlsFixture } from './tls-fixture.ts';

const MINUTE = 60_000;

describe('PeerCertificates', () => {
  let alice: Issued;
  let trusted: DelegatedAuthentication;
  let distrusted: DelegatedAuthentication;
  let settings: DelegatedAuthentication;
  let server: TlsFixture;
  let agent: Agent;
  let now = 0;

  before(async () => {
    const ca = await newCA('cluster');
    alice = await issue(ca, { cn: 'alice' });
    trusted = parseDelegatedAuthentication({ 'client-ca-file': ca.cert }, 1);
    distrusted = parseDelegatedAuthentication({}, 1);
    const peers = new PeerCertificates(() => now);
    server = await startTls([ca], (request: IncomingMessage) => peers.verify(request, 'client', settings));
  });

  beforeEach(() => {
    now = Date.now();
    settings = trusted;
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
  });

  afterEach(() => agent.destroy());

  after(() => server.stop());

  const verdict = async (): Promise<PeerVerdict> =>
    (await server.send({ client: alice, agent })) as PeerVerdict;

  it('caches a verdict while the certificate is valid', async () => {
    const first = await verdict();
    expect(first.error).to.equal(undefined);
    now += 59 * MINUTE;
    expect(await verdict()).to.equal(first);
    now -= 118 * MINUTE;
    expect(await verdict()).to.equal(first);
  });

  it('verifies again outside the validity of the certificate', async () => {
    const start = now;
    expect((await verdict()).error).to.equal(undefined);
    now = start + 61 * MINUTE;
    expect((await verdict()).error?.message).to.match(/expired at/);
    now = start;
    expect((await verdict()).error).to.equal(undefined);
    now = start - 61 * MINUTE;
    expect((await verdict()).error?.message).to.match(/is not valid before/);
  });

  it('caches a rejection for ten seconds', async () => {
    settings = distrusted;
    const first = await verdict();
    expect(first.error?.message).to.equal('not signed by a trusted CA');
    now += 10_000;
    expect(await verdict()).to.equal(first);
    now += 1;
    expect(await verdict()).not.to.equal(first);
  });
});
