// Tests of the computation of the CA bundle of an APIService.
import { expect } from 'chai';
import { CertificateAuthority } from '../../../../hack/control-plane/certificate-authority.ts';
import {
  type ApiService,
  desiredBundle,
  FIELD_MANAGER,
  readApiService,
} from '../../../../server/registration/ca-bundle.ts';

const HOUR = 3_600_000;

describe('desiredBundle', () => {
  let own: string;
  let other: string;
  let now: Date;

  before(async () => {
    now = new Date();
    own = (await CertificateAuthority.create('own')).cert;
    other = (await CertificateAuthority.create('other')).cert;
  });

  function apiService(caBundle: string, manager = FIELD_MANAGER, changedAt = now): ApiService {
    const entry = {
      manager,
      time: changedAt.toISOString(),
      fieldsV1: { 'f:spec': { 'f:caBundle': {} } },
    };
    const seen = readApiService({
      metadata: { name: 'n', managedFields: [entry] },
      spec: { caBundle: Buffer.from(caBundle).toString('base64') },
    });
    if (!seen) throw new Error('no APIService');
    return seen;
  }

  const ago = (ms: number): Date => new Date(now.getTime() - ms);

  it('is exactly our CAs, without those of other clients and other text', () => {
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
    for (const bundle of ['', own, other, `${own}\n${other}`, broken]) {
      expect(desiredBundle(apiService(bundle, 'kubectl-patch'), own, now)).to.equal(own);
    }
    // During a rotation, both are our own.
    expect(desiredBundle(apiService(own), `${own}\n${other}`, now)).to.equal(`${own}\n${other}`);
  });

  it('keeps the CAs that other replicas have written, for an hour after the last change', () => {
    const both = `${own}\n${other}\n`;
    expect(desiredBundle(apiService(other, FIELD_MANAGER, ago(99 * HOUR)), own, now)).to.equal(both);
    expect(desiredBundle(apiService(both, FIELD_MANAGER, ago(HOUR - 1)), own, now)).to.equal(both);
    expect(desiredBundle(apiService(both, FIELD_MANAGER, ago(HOUR)), own, now)).to.equal(own);
  });

  it('removes expired certificates', async () => {
    const { cert } = await CertificateAuthority.create('expired', {
      notBefore: new Date(0),
      notAfter: ago(24 * HOUR),
    });
    expect(desiredBundle(apiService(`${own}\n${cert}`), own, now)).to.equal(own);
  });

  it('contains at most eight certificates', async () => {
    let bundle = '';
    let last = '';
    for (let restart = 0; restart < 9; restart++) {
      last = (await CertificateAuthority.create('serving')).cert;
      bundle = desiredBundle(apiService(bundle), last, now);
    }
    expect(bundle.match(/BEGIN CERTIFICATE/g)).to.have.length(8);
    expect(desiredBundle(apiService(bundle), last, now)).to.equal(bundle);
  });
});
