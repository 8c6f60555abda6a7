// Tests of the certificate authority of the control plane.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';
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

  it('can be loaded, and continues to issue under the same name', async () => {
    const authority = await CertificateAuthority.create('test-ca');
    const again = CertificateAuthority.from({ cert: authority.cert, key: authority.key });
    const { cert } = await again.issueClient({ cn: 'jane' });
    expect(new X509Certificate(cert).verify(new X509Certificate(authority.cert).publicKey)).to.equal(true);
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

  it('is trusted by both sides of a TLS connection', async () => {
    const authority = await CertificateAuthority.create('test-ca');
    const serving = await authority.issueServer({ cn: 'server' }, { dns: ['localhost'], ip: ['127.0.0.1'] });
    const server = createServer({
      ...serving,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: true,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const client = connect({
      port,
      host: '127.0.0.1',
      ca: authority.cert,
      ...(await authority.issueClient({ cn: 'jane' })),
    });
    const [socket]: TLSSocket[] = await once(server, 'secureConnection');
    expect(socket?.getPeerX509Certificate()?.subject).to.equal('CN=jane');
    expect(client.authorized).to.equal(true);
    client.destroy();
    server.close();
    await once(server, 'close');
  });
});
