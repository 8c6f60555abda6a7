// Tests of the computation of the CA bundle of an APIService.
import { expect } from 'chai';
import { CertificateAuthority } from '../../../../hack/control-plane/certificate-authority.ts';
import { desiredBundle } from '../../../../server/registration/ca-bundle.ts';

describe('desiredBundle', () => {
  let own: string;
  let sibling: string;
  let foreign: string;
  let now: Date;
  let yesterday: Date;

  before(async () => {
    now = new Date();
    yesterday = new Date(now.getTime() - 86_400_000);
    own = (await CertificateAuthority.create('serving@1')).cert;
    sibling = (await CertificateAuthority.create('serving@2')).cert;
    foreign = (await CertificateAuthority.create('somebody else@1')).cert;
  });

  it('returns our CA for an empty bundle', () => {
    expect(desiredBundle('', own, now, 'sameName')).to.equal(own);
  });

  it('returns a bundle unchanged that contains our CA', () => {
    expect(desiredBundle(own, own, now, 'sameName')).to.equal(own);
  });

  it('removes a foreign CA', () => {
    expect(desiredBundle(foreign, own, now, 'sameName')).to.equal(own);
    expect(desiredBundle(`${own}\n${foreign}`, own, now, 'sameName')).to.equal(own);
  });

  it('removes text that is not a certificate', () => {
    expect(
      desiredBundle('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', own, now, 'sameName'),
    ).to.equal(own);
  });

  it('contains the CA of another replica, after our own CA', () => {
    const both = desiredBundle(sibling, own, now, 'sameName');
    expect(both).to.equal(`${own}\n${sibling}\n`);
  });

  it('converges for two replicas in any order', () => {
    const byOne = desiredBundle('', own, now, 'sameName');
    const byTheOther = desiredBundle(byOne, sibling, now, 'sameName');
    expect(desiredBundle(byTheOther, own, now, 'sameName')).to.equal(byTheOther);
    expect(desiredBundle(byTheOther, sibling, now, 'sameName')).to.equal(byTheOther);
  });

  it('removes the expired CA of another replica', async () => {
    const { cert } = await CertificateAuthority.create('serving', {
      notBefore: new Date(0),
      notAfter: yesterday,
    });
    expect(desiredBundle(`${own}\n${cert}`, own, now, 'sameName')).to.equal(own);
  });

  it('removes the CAs of other replicas for others = none', () => {
    expect(desiredBundle(desiredBundle(sibling, own, now, 'sameName'), own, now, 'none')).to.equal(own);
  });

  it('keeps the CA of another name for others = valid', () => {
    const both = desiredBundle(foreign, own, now, 'valid');
    expect(both).to.equal(`${own}\n${foreign}\n`);
    expect(desiredBundle(both, foreign, now, 'valid')).to.equal(both);
    expect(desiredBundle(both, own, now, 'sameName')).to.equal(own);
  });

  it('removes every expired certificate', async () => {
    const { cert } = await CertificateAuthority.create('somebody else', {
      notBefore: new Date(0),
      notAfter: yesterday,
    });
    expect(desiredBundle(`${own}\n${cert}`, own, now, 'valid')).to.equal(own);
  });

  it('contains at most eight certificates', async () => {
    let bundle = '';
    let last = '';
    for (let restart = 0; restart < 12; restart++) {
      last = (await CertificateAuthority.create('serving')).cert;
      bundle = desiredBundle(bundle, last, now, 'sameName');
    }
    expect(bundle.match(/BEGIN CERTIFICATE/g)).to.have.length(8);
    expect(desiredBundle(bundle, last, now, 'sameName')).to.equal(bundle);
  });

  it('contains both of our own certificates during a rotation', () => {
    expect(desiredBundle(own, `${own}\n${sibling}`, now, 'sameName')).to.equal(`${own}\n${sibling}`);
  });
});
