// Tests of the self-signed serving certificate.
import { X509Certificate } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { StartupError } from '../../../../../apis/config/v1alpha1/startup-error.ts';
import { pemCertificates } from '../../../../../server/files/pem-certificates.ts';
import {
  type AuthorityStore,
  DirectoryAuthorityStore,
  MemoryAuthorityStore,
} from '../../../../../server/listener/certificates/authority-store.ts';
import { servingNames } from '../../../../../server/listener/certificates/certificate-choice.ts';
import { SelfSignedCertificate } from '../../../../../server/listener/certificates/self-signed-certificate.ts';
import { rejection } from '../../../../support/rejection.ts';
import { scratchFolderEach } from '../../../../support/scratch.ts';
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

  it('is valid for the Service, the host and configured names, and issued by a CA of its bundle', async () => {
    const certificate = source();
    await certificate.renew();
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
    const folder = scratchFolderEach();

    it('stores the CA across restarts, and protects its key', async () => {
      const created = join(folder(), 'a', 'b');
      const [before, after] = [1, 2].map(() => source(new DirectoryAuthorityStore(created)));
      if (!before || !after) throw new Error('no source');
      await before.renew();
      await after.renew();
      expect(after.current().ca).to.equal(before.current().ca);
      expect(await readFile(join(created, 'serving-ca.crt'), 'utf8')).to.equal(before.current().ca);
      const modeOf = async (path: string): Promise<number> => (await stat(path)).mode % 0o1000;
      expect(await modeOf(join(created, 'serving-ca.json'))).to.equal(0o600);
      for (const parent of ['a', 'a/b']) expect(await modeOf(join(folder(), parent))).to.equal(0o700);
    });

    it('names the option, and fails without delay, when the folder is unusable', async () => {
      const file = join(folder(), 'file');
      await writeFile(file, '');
      for (const [place, problem] of [
        [
          join(file, 'certificates'),
          /ENOTDIR.*; set listeners\.secure\.selfSigned\.directory to a writable folder/,
        ],
        ['/proc/serving-ca', /mkdir '\/proc\/serving-ca'; set .*directory to a writable folder/],
        ['/proc/serving-ca/below', /mkdir '\/proc\/serving-ca'; set .*directory to a writable folder/],
      ] as const) {
        const error = await rejection(source(new DirectoryAuthorityStore(place)).start(AbortSignal.abort()));
        expect(error).to.be.instanceOf(StartupError);
        expect(String(error)).to.match(problem);
      }
    });

    it('reports an invalid file and what to change, without quoting it', async () => {
      await writeFile(join(folder(), 'serving-ca.json'), 'MIGHAgEAMBMGByqGSM49');
      const error = await rejection(source(new DirectoryAuthorityStore(folder())).start(AbortSignal.abort()));
      expect(String(error)).to.include('serving-ca.json is invalid; remove it to create a new CA');
      expect(inspect(error)).not.to.include('MIGH');
    });

    it('creates one CA for two concurrent starts', async () => {
      const sources = [1, 2, 3].map(() => source(new DirectoryAuthorityStore(folder())));
      await Promise.all(sources.map((one) => one.renew()));
      expect(new Set(sources.map((one) => one.current().ca)).size).to.equal(1);
    });
  });
});
