// Tests of the self-signed serving certificate.
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { StartupError } from '../../../../../apis/config/v1alpha1/startup-error.ts';
import { pemCertificates } from '../../../../../server/cluster/connection/pem-certificates.ts';
import {
  type AuthorityStore,
  DirectoryAuthorityStore,
  MemoryAuthorityStore,
} from '../../../../../server/listener/certificates/authority-store.ts';
import { servingNames } from '../../../../../server/listener/certificates/certificate-choice.ts';
import { SelfSignedCertificate } from '../../../../../server/listener/certificates/self-signed-certificate.ts';
import { certificateMetrics, silent } from '../listening.ts';

const DAY = 24 * 3_600_000;

describe('SelfSignedCertificate', () => {
  let now: Date;

  beforeEach(() => {
    now = new Date('2026-11-21T12:00:00Z');
  });

  function source(store: AuthorityStore = new MemoryAuthorityStore()): SelfSignedCertificate {
    return new SelfSignedCertificate({
      names: servingNames({
        service: 's',
        namespace: 'n',
        hostname: 'Host',
        additional: ['10.0.0.1', 'x.example'],
      }),
      store,
      log: silent,
      metrics: certificateMetrics(),
      now: () => now,
    });
  }

  function pass(days: number): void {
    now = new Date(now.getTime() + days * DAY);
  }

  it('is valid for the Service, the host and configured names', async () => {
    const certificate = source();
    await certificate.renew();
    const leaf = new X509Certificate(certificate.current().cert);
    for (const name of ['s.n.svc', 's.n.svc.cluster.local', 'localhost', 'host', 'x.example']) {
      expect(leaf.checkHost(name), name).to.equal(name);
    }
    for (const address of ['127.0.0.1', '::1', '10.0.0.1']) {
      expect(leaf.checkIP(address), address).to.equal(address);
    }
  });

  it('is issued by a CA of its bundle', async () => {
    const certificate = source();
    await certificate.renew();
    const { cert, ca } = certificate.current();
    const leaf = new X509Certificate(cert);
    expect(leaf.verify(new X509Certificate(ca).publicKey)).to.equal(true);
    expect(leaf.checkIssued(new X509Certificate(ca))).to.equal(true);
    expect(leaf.ca).to.equal(false);
  });

  it('is renewed by the same CA in the last third of its lifetime', async () => {
    const certificate = source();
    let changes = 0;
    certificate.onChange(() => changes++);
    await certificate.renew();
    const first = certificate.current();
    pass(59);
    await certificate.renew();
    expect(certificate.current()).to.equal(first);
    pass(2);
    await certificate.renew();
    expect(certificate.current().cert).not.to.equal(first.cert);
    expect(certificate.current().ca).to.equal(first.ca);
    expect(changes).to.equal(1);
  });

  it('publishes a new CA beside the old one before issuing with it', async () => {
    const certificate = source();
    await certificate.renew();
    const [old = ''] = pemCertificates(certificate.current().ca);
    pass(9 * 365 + 10);
    await certificate.renew();
    const bundle = pemCertificates(certificate.current().ca);
    expect(bundle).to.have.length(2).and.include(old);
    const issuedBy = (ca: string) =>
      new X509Certificate(certificate.current().cert).verify(new X509Certificate(ca).publicKey);
    expect(issuedBy(old)).to.equal(true);
    pass(61);
    await certificate.renew();
    expect(issuedBy(bundle[0] ?? '')).to.equal(true);
    expect(pemCertificates(certificate.current().ca)).to.have.length(2);
    pass(400);
    await certificate.renew();
    expect(pemCertificates(certificate.current().ca)).to.deep.equal([bundle[0]]);
  });

  it('adopts a CA that another replica has stored', async () => {
    const store = new MemoryAuthorityStore();
    const [one, two] = [source(store), source(store)];
    await one.renew();
    await two.renew();
    expect(two.current().ca).to.equal(one.current().ca);
    pass(9 * 365 + 10);
    await one.renew();
    await two.renew();
    expect(two.current().ca).to.equal(one.current().ca);
  });

  describe('with a folder', () => {
    let folder: string;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'serving-ca-'));
    });

    afterEach(() => rm(folder, { recursive: true }));

    it('stores the CA across restarts', async () => {
      const store = new DirectoryAuthorityStore(join(folder, 'new'));
      const [before, after] = [source(store), source(new DirectoryAuthorityStore(join(folder, 'new')))];
      await before.renew();
      await after.renew();
      expect(after.current().ca).to.equal(before.current().ca);
      expect(await readFile(join(folder, 'new', 'serving-ca.crt'), 'utf8')).to.equal(before.current().ca);
    });

    it('protects the key of the CA', async () => {
      await source(new DirectoryAuthorityStore(folder)).renew();
      expect((await stat(join(folder, 'serving-ca.json'))).mode % 0o1000).to.equal(0o600);
    });

    it('names the option when the folder is unusable', async () => {
      const file = join(folder, 'file');
      await writeFile(file, '');
      const started = source(new DirectoryAuthorityStore(join(file, 'certificates'))).start(
        AbortSignal.abort(),
      );
      const error: unknown = await started.catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(StartupError);
      expect(String(error)).to.match(
        /ENOTDIR.*; set listeners\.secure\.selfSigned\.directory to a writable folder/,
      );
    });

    it('creates missing parent folders with mode 0700', async () => {
      await source(new DirectoryAuthorityStore(join(folder, 'a', 'b', 'c'))).renew();
      for (const path of ['a', 'a/b', 'a/b/c']) {
        expect((await stat(join(folder, path))).mode % 0o1000).to.equal(0o700);
      }
    });

    it('fails without delay if the folder cannot be created', async () => {
      for (const place of ['/proc/serving-ca', '/proc/serving-ca/below']) {
        const error: unknown = await source(new DirectoryAuthorityStore(place))
          .start(AbortSignal.abort())
          .catch((failure: unknown) => failure);
        expect(error).to.be.instanceOf(StartupError);
        expect(String(error)).to.match(/mkdir '\/proc\/serving-ca'; set .*directory to a writable folder/);
      }
    });

    it('reports an invalid file and what to change, without quoting it', async () => {
      await writeFile(join(folder, 'serving-ca.json'), 'MIGHAgEAMBMGByqGSM49');
      const error: unknown = await source(new DirectoryAuthorityStore(folder))
        .start(AbortSignal.abort())
        .catch((failure: unknown) => failure);
      expect(String(error)).to.include('serving-ca.json is invalid; remove it to create a new CA');
      expect(inspect(error)).not.to.include('MIGH');
    });

    it('creates one CA for two concurrent starts', async () => {
      const sources = [1, 2, 3].map(() => source(new DirectoryAuthorityStore(folder)));
      await Promise.all(sources.map((one) => one.renew()));
      expect(new Set(sources.map((one) => one.current().ca)).size).to.equal(1);
    });
  });
});
