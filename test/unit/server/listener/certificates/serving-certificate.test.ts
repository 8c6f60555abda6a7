// Tests of the root certificates that clients need for the serving certificate.
import { expect } from 'chai';
import {
  createAuthority,
  issueServing,
} from '../../../../../server/listener/certificates/certificate-authority.ts';
import {
  checkServingCertificate,
  rootsFor,
} from '../../../../../server/listener/certificates/serving-certificate.ts';

const DAY = 24 * 3_600_000;

describe('rootsFor', () => {
  it('has the root of a certificate for the name or the address, and no intermediate certificate', async () => {
    const authority = await createAuthority(new Date(), DAY);
    const names = ['api.example.com', '192.0.2.7', '2001:db8::1'];
    const leaf = await issueServing(authority, names, new Date(), DAY);
    const root = checkServingCertificate(leaf.certificate, leaf.key, authority.certificate);
    for (const host of ['api.example.com', '192.0.2.7', '[2001:db8::1]']) {
      expect(rootsFor(root, host)?.trim(), host).to.equal(authority.certificate.trim());
    }
    for (const host of ['other.example.com', '192.0.2.8']) expect(rootsFor(root, host)).to.equal(undefined);
    const withoutRoot = checkServingCertificate(leaf.certificate, leaf.key);
    expect(rootsFor(withoutRoot, 'api.example.com')).to.equal(undefined);
  });
});
