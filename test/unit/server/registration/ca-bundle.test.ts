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
    foreign = (await CertificateAuthority.create('another@1')).cert;
  });

  it('is our CA, then the CAs of other replicas, without foreign CAs and other text', () => {
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
    for (const bundle of ['', own, foreign, `${own}\n${foreign}`, broken]) {
      expect(desiredBundle(bundle, own, now, 'sameName')).to.equal(own);
    }
    const both = desiredBundle(sibling, own, now, 'sameName');
    expect(both).to.equal(`${own}\n${sibling}\n`);
    expect(desiredBundle(both, own, now, 'none')).to.equal(own);
    // During a rotation, both are our own.
    expect(desiredBundle(own, `${own}\n${sibling}`, now, 'sameName')).to.equal(`${own}\n${sibling}`);
  });

  it('removes expired certificates', async () => {
    for (const [name, others] of [
      ['serving', 'sameName'],
      ['another', 'valid'],
    ] as const) {
      const { cert } = await CertificateAuthority.create(name, {
        notBefore: new Date(0),
        notAfter: yesterday,
      });
      expect(desiredBundle(`${own}\n${cert}`, own, now, others)).to.equal(own);
    }
  });

  it('contains at most eight certificates', async () => {
    let bundle = '';
    let last = '';
    for (let restart = 0; restart < 9; restart++) {
      last = (await CertificateAuthority.create('serving')).cert;
      bundle = desiredBundle(bundle, last, now, 'sameName');
    }
    expect(bundle.match(/BEGIN CERTIFICATE/g)).to.have.length(8);
    expect(desiredBundle(bundle, last, now, 'sameName')).to.equal(bundle);
  });
});
