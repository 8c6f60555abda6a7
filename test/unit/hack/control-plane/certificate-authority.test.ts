// Tests of the certificate authority of the control plane.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { CertificateAuthority } from '../../../../hack/control-plane/certificate-authority.ts';

describe('a certificate authority', () => {
  it('issues client certificates that name the user and the groups', async () => {
    const authority = await CertificateAuthority.create('test-ca');
    const { cert, key } = await authority.issueClient({ cn: 'jane', o: ['developers', 'a,system:masters'] });
    const certificate = new X509Certificate(cert);
    expect(certificate.subject.split('\n')).to.have.members([
      'O=developers',
      'O=a\\,system:masters',
      'CN=jane',
    ]);
    expect(certificate.checkPrivateKey(createPrivateKey(key))).to.equal(true);
    expect(certificate.checkIssued(new X509Certificate(authority.cert))).to.equal(true);
    expect(certificate.keyUsage).to.deep.equal(['1.3.6.1.5.5.7.3.2']);
  });

  it('issues certificates for any validity, also an expired one', async () => {
    const authority = await CertificateAuthority.create('test-ca');
    const notAfter = new Date('2026-01-01T00:00:00Z');
    const { cert } = await authority.issueClient(
      { cn: 'jane' },
      { notBefore: new Date('2025-01-01'), notAfter },
    );
    expect(new Date(new X509Certificate(cert).validTo)).to.deep.equal(notAfter);
  });
});
