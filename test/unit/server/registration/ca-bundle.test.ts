import { expect } from 'chai';
import { CertificateAuthority } from '../../../../hack/control-plane/certificate-authority.ts';
import { desiredBundle, holdsOthers } from '../../../../server/registration/ca-bundle.ts';

const NOW = new Date();
const YESTERDAY = new Date(NOW.getTime() - 86_400_000);

describe('the bundle of serving CAs', () => {
  let own: string;
  let sibling: string;
  let foreign: string;

  before(async () => {
    own = (await CertificateAuthority.create('serving@1')).cert;
    sibling = (await CertificateAuthority.create('serving@2')).cert;
    foreign = (await CertificateAuthority.create('somebody else@1')).cert;
  });

  it('is exactly our CA where there was none', () => {
    expect(desiredBundle('', own, NOW)).to.equal(own);
  });

  it('is left as it is when it already holds our CA', () => {
    expect(desiredBundle(own, own, NOW)).to.equal(own);
  });

  it('loses a foreign CA', () => {
    expect(desiredBundle(foreign, own, NOW)).to.equal(own);
    expect(desiredBundle(`${own}\n${foreign}`, own, NOW)).to.equal(own);
  });

  it('loses text that is no certificate', () => {
    expect(desiredBundle('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', own, NOW)).to.equal(
      own,
    );
  });

  it('keeps the CA of another replica behind our own', () => {
    const both = desiredBundle(sibling, own, NOW);
    expect(holdsOthers(both, own)).to.equal(true);
    expect(holdsOthers(both, `${own}\n${sibling}`)).to.equal(false);
  });

  it('ends in one bundle for two replicas, whoever writes last', () => {
    const byOne = desiredBundle('', own, NOW);
    const byTheOther = desiredBundle(byOne, sibling, NOW);
    expect(desiredBundle(byTheOther, own, NOW)).to.equal(byTheOther);
    expect(desiredBundle(byTheOther, sibling, NOW)).to.equal(byTheOther);
  });

  it('loses the expired CA of another replica', async () => {
    const { cert } = await CertificateAuthority.create('serving', {
      notBefore: new Date(0),
      notAfter: YESTERDAY,
    });
    expect(desiredBundle(`${own}\n${cert}`, own, NOW)).to.equal(own);
  });

  it('loses the CAs of other replicas when it is to hold ours alone', () => {
    expect(desiredBundle(desiredBundle(sibling, own, NOW), own, NOW, true)).to.equal(own);
  });

  it('does not grow without bound', async () => {
    let bundle = '';
    let last = '';
    for (let restart = 0; restart < 12; restart++) {
      last = (await CertificateAuthority.create('serving')).cert;
      bundle = desiredBundle(bundle, last, NOW);
    }
    expect(bundle.match(/BEGIN CERTIFICATE/g)).to.have.length(8);
    expect(desiredBundle(bundle, last, NOW)).to.equal(bundle);
  });

  it('takes both of our own certificates during a rotation', () => {
    expect(desiredBundle(own, `${own}\n${sibling}`, NOW)).to.equal(`${own}\n${sibling}`);
  });
});
