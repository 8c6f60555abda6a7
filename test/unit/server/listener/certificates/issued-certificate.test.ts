// Tests of the certificates that the server issues, with a CA in memory.
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { servingNames } from '../../../../../server/listener/certificates/certificate-choice.ts';
import { IssuedCertificate } from '../../../../../server/listener/certificates/issued-certificate.ts';
import { certificateMetrics, silent } from '../listening.ts';

const DAY = 24 * 3_600_000;

describe('IssuedCertificate', () => {
  let now: Date;
  let certificate: IssuedCertificate;
  let stop: AbortController;

  beforeEach(async () => {
    now = new Date('2026-11-21T12:00:00Z');
    stop = new AbortController();
    certificate = new IssuedCertificate({
      names: servingNames({
        service: 's',
        namespace: 'n',
        hostname: 'Host',
        additional: ['10.0.0.1', 'x.example'],
      }),
      secret: undefined,
      log: silent,
      metrics: certificateMetrics(),
      now: () => now,
    });
    await certificate.start(stop.signal);
  });

  afterEach(() => stop.abort());

  it('is valid for the Service, the host and configured names, and issued by a CA of its bundle', () => {
    const leaf = new X509Certificate(certificate.current().cert);
    for (const name of ['s.n.svc', 's.n.svc.cluster.local', 'localhost', 'host', 'x.example']) {
      expect(leaf.checkHost(name), name).to.equal(name);
    }
    for (const address of ['127.0.0.1', '::1', '10.0.0.1']) {
      expect(leaf.checkIP(address), address).to.equal(address);
    }
    const ca = new X509Certificate(certificate.current().ca);
    expect([leaf.verify(ca.publicKey), leaf.checkIssued(ca), leaf.ca]).to.deep.equal([true, true, false]);
  });

  it('is renewed by the same CA in the last third of its lifetime', async () => {
    let changes = 0;
    certificate.onChange(() => changes++);
    const first = certificate.current();
    now = new Date(now.getTime() + 59 * DAY);
    await certificate.renew();
    expect(certificate.current()).to.equal(first);
    now = new Date(now.getTime() + 2 * DAY);
    await certificate.renew();
    expect(certificate.current().cert).not.to.equal(first.cert);
    expect(certificate.current().ca).to.equal(first.ca);
    expect(changes).to.equal(1);
  });
});
