// Tests of the PKI files of a control plane.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeKubeconfig } from '../../../../hack/control-plane/kubeconfig.ts';
import { openPki } from '../../../../hack/control-plane/pki.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const DAY = 24 * 60 * 60 * 1000;

describe('the PKI of a control plane', () => {
  it('keeps private keys from other users', async () => {
    await using scratch = await scratchFolder();
    const { files } = await openPki(scratch.path);
    const content = {
      cluster: 'dev',
      url: 'https://localhost',
      ca: '',
      user: 'jane',
      pair: { cert: '', key: '' },
    };
    const kubeconfig = await writeKubeconfig(join(scratch.path, 'jane'), content);
    for (const path of [kubeconfig, files.admin.key, files.serviceAccountKey, join(scratch.path, 'ca.key')]) {
      expect((await stat(path)).mode & 0o077, path).to.equal(0);
    }
  });

  it('renews an expiring certificate, and keeps the CA', async () => {
    await using scratch = await scratchFolder();
    const first = await openPki(scratch.path);
    const before = await readFile(first.files.apiserver.cert, 'utf8');
    const later = await openPki(scratch.path, { now: () => Date.now() + 340 * DAY });
    expect(later.cluster.cert).to.equal(first.cluster.cert);
    expect(await readFile(later.files.apiserver.cert, 'utf8')).not.to.equal(before);
  });
});
