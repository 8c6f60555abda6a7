// Tests of the serving certificate from files.
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { pino } from 'pino';
import {
  createAuthority,
  issueServing,
  type KeyPair,
} from '../../../../../server/listener/certificates/certificate-authority.ts';
import {
  CertificateFiles,
  type CertificateFilesOptions,
} from '../../../../../server/listener/certificates/certificate-files.ts';
import type { Listener } from '../../../../../server/listener/listener.ts';
import { rejection } from '../../../../support/rejection.ts';
import { scratchFolderEach } from '../../../../support/scratch.ts';
import { certificateMetrics, listenSecure, stopListenersEach } from '../listening.ts';

const DAY = 24 * 3_600_000;

describe('CertificateFiles', () => {
  stopListenersEach();
  const root = scratchFolderEach();
  let folder: string;
  let authority: KeyPair;
  let life: AbortController;
  let lines: string[];

  beforeEach(async () => {
    folder = root();
    authority = await createAuthority(new Date(), DAY);
    life = new AbortController();
    lines = [];
  });

  afterEach(() => life.abort());

  async function issue(name: string, lifetime = DAY): Promise<KeyPair> {
    return issueServing(authority, [name], new Date(), lifetime);
  }

  /**
   * Writes a version of the files as the kubelet does: in a folder behind a symbolic link. The returned function
   * switches the link.
   */
  async function prepared(version: string, pair: { certificate: string; key: string }): Promise<() => void> {
    const data = join(folder, version);
    await mkdir(data);
    await writeFile(join(data, 'tls.crt'), pair.certificate);
    await writeFile(join(data, 'tls.key'), pair.key);
    await symlink(version, join(folder, '..data_tmp'));
    return () => renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  }

  const swap = async (...files: Parameters<typeof prepared>): Promise<void> => (await prepared(...files))();

  async function linked(pair: KeyPair): Promise<void> {
    await swap('..v1', pair);
    await symlink('..data/tls.crt', join(folder, 'tls.crt'));
    await symlink('..data/tls.key', join(folder, 'tls.key'));
  }

  const logAt = (level: string) => pino({ level }, { write: (line) => lines.push(line) });

  function source(settings: Partial<CertificateFilesOptions> = {}): CertificateFiles {
    return new CertificateFiles({
      paths: { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key'), caFile: '' },
      log: logAt('error'),
      metrics: certificateMetrics(),
      settleMs: 10,
      ...settings,
    });
  }

  async function changed(files: CertificateFiles): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = files.onChange(resolve);
    await promise;
    end();
  }

  async function servedNames(listener: Listener): Promise<string | undefined> {
    const socket = connect({
      host: '127.0.0.1',
      port: listener.address.port,
      ca: authority.certificate,
      checkServerIdentity: () => undefined,
    });
    await once(socket, 'secureConnect');
    const names = socket.getPeerCertificate().subjectaltname;
    socket.destroy();
    return names;
  }

  for (const [how, settings] of [
    ['by watching', { pollMs: 3_600_000 }],
    ['by polling, with watching too slow', { pollMs: 20, settleMs: 3_600_000 }],
  ] as const) {
    it(`serves a rotated certificate to the next connection, noticed ${how}`, async () => {
      await linked(await issue('one'));
      const files = source({ ...settings, log: logAt('debug') });
      await files.start(life.signal);
      expect(lines, 'folders that cannot be watched').to.deep.equal([]);
      const listener = await listenSecure(files);
      expect(await servedNames(listener)).to.equal('DNS:one');
      const heard = changed(files);
      await swap('..v2', await issue('two'));
      await heard;
      expect(await servedNames(listener)).to.equal('DNS:two');
    });
  }

  for (const [what, broken] of [
    [
      'key of another certificate',
      async () => ({ ...(await issue('two')), key: (await issue('three')).key }),
    ],
    [
      'half-written certificate',
      async () => ({ ...(await issue('two')), certificate: '-----BEGIN CERTIFICATE-----\nMIIB' }),
    ],
    ['empty key', async () => ({ ...(await issue('two')), key: '' })],
    ['expired certificate', async () => issue('two', -60_000)],
  ] as const) {
    it(`rejects a ${what} with one log line, and continues to use the current certificate`, async () => {
      await linked(await issue('one'));
      const files = source({ pollMs: 3_600_000, settleMs: 3_600_000 });
      await files.start(life.signal);
      const before = files.current();
      await swap('..v2', await broken());
      await files.reload();
      await files.reload();
      expect(files.current()).to.equal(before);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.contain('refused').and.not.contain('PRIVATE KEY');
    });
  }

  it('loads files that are swapped during a reload', async () => {
    await linked(await issue('one'));
    const files = source({ pollMs: 3_600_000, settleMs: 3_600_000 });
    await files.start(life.signal);
    for (let round = 2; round < 10; round++) {
      const next = await issue(`round-${round}`);
      const step = await prepared(`..v${round}`, next);
      const before = files.reload();
      step();
      await files.reload();
      expect(files.current().cert).to.equal(next.certificate);
      await before;
    }
  });

  it('continues to use the current certificate while files are missing or incomplete', async () => {
    await linked(await issue('one'));
    const files = source({ pollMs: 3_600_000, settleMs: 3_600_000 });
    await files.start(life.signal);
    const before = files.current();
    await rm(join(folder, 'tls.key'));
    await files.reload();
    await files.reload();
    expect(files.current()).to.equal(before);
    expect(lines).to.have.length(1);
    const next = await issue('two');
    await writeFile(join(folder, '..v1', 'tls.crt'), next.certificate);
    await files.reload();
    expect(files.current()).to.equal(before);
    await writeFile(join(folder, 'tls.key'), next.key);
    await files.reload();
    expect(files.current().cert).to.equal(next.certificate);
  });

  it('fails to start without files, and names the first missing one', async () => {
    const certFile = join(folder, 'tls.crt');
    // The error of an invalid path occurs without an access to the file system, before that of the missing file.
    for (const settings of [{}, { paths: { certFile, keyFile: '\0', caFile: '' } }]) {
      const error = await rejection(source(settings).start(life.signal));
      expect(error).to.have.property('code', 'ERR_SERVING_CERTIFICATE');
      expect(error.message).to.contain('tls.crt: no such file');
    }
  });

  it('fails to start with an invalid key, with the reason', async () => {
    await linked({ ...(await issue('one')), key: 'no key' });
    const error = await rejection(source().start(life.signal));
    expect(error).to.have.property('code', 'ERR_SERVING_CERTIFICATE');
    expect(error.message).to.match(/^serving certificate .*: keyFile contains no readable private key; .*$/);
  });

  it('uses the last certificate of the chain as CA', async () => {
    const leaf = await issue('one');
    await linked({ ...leaf, certificate: `${leaf.certificate}\n${authority.certificate}` });
    const files = source();
    await files.start(life.signal);
    expect(files.current().ca.trim()).to.equal(authority.certificate.trim());
  });
});
