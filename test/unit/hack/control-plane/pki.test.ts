// Tests of the PKI files of a control plane.
import { X509Certificate } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openPki } from '../../../../hack/control-plane/pki.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const DAY = 24 * 60 * 60 * 1000;

describe('the PKI of a control plane', () => {
  it('keeps private keys from other users', async () => {
    await using scratch = await scratchFolder();
    const { files } = await openPki(scratch.path);
    for (const path of [files.admin.key, files.serviceAccountKey, join(scratch.path, 'ca.key')]) {
      expect((await stat(path)).mode & 0o077, path).to.equal(0);
    }
  });

  it('renews an expiring certificate, and keeps the CA', async () => {
    await using scratch = await scratchFolder();
    const first = await openPki(scratch.path);
    const before = await readFile(first.files.apiserver.cert, 'utf8');
    const later = await openPki(scratch.path, () => Date.now() + 340 * DAY);
    expect(later.cluster.cert).to.equal(first.cluster.cert);
    expect(await readFile(later.files.apiserver.cert, 'utf8')).not.to.equal(before);
  });

  it('reissues all certificates of a replaced CA', async () => {
    await using scratch = await scratchFolder();
    const first = await openPki(scratch.path);
    await rm(join(scratch.path, 'ca.crt'));
    const second = await openPki(scratch.path);
    expect(second.cluster.cert).not.to.equal(first.cluster.cert);
    const apiserver = new X509Certificate(await readFile(second.files.apiserver.cert));
    expect(apiserver.verify(new X509Certificate(second.cluster.cert).publicKey)).to.equal(true);
  });

  it('separates the front-proxy CA from the cluster CA', async () => {
    await using scratch = await scratchFolder();
    const pki = await openPki(scratch.path);
    const client = new X509Certificate(pki.frontProxyClient.cert);
    expect(client.verify(new X509Certificate(pki.frontProxy.cert).publicKey)).to.equal(true);
    expect(client.verify(new X509Certificate(pki.cluster.cert).publicKey)).to.equal(false);
  });
});
