// Tests of the generated kubeconfig files.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { writeKubeconfig } from '../../../../hack/control-plane/kubeconfig.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const CONTENT = {
  cluster: 'dev',
  url: 'https://127.0.0.1:6443',
  ca: 'the authority',
  user: 'jane: "the tester"',
  pair: { cert: 'the certificate', key: 'the key' },
};

describe('a kubeconfig', () => {
  it('is read correctly by a Kubernetes client, for any user name', async () => {
    await using scratch = await scratchFolder();
    const config = new KubeConfig();
    config.loadFromFile(await writeKubeconfig(join(scratch.path, 'users', 'jane'), CONTENT));
    expect(config.getCurrentCluster()?.server).to.equal(CONTENT.url);
    expect(config.getCurrentUser()?.name).to.equal(CONTENT.user);
    const decoded = Buffer.from(config.getCurrentUser()?.certData ?? '', 'base64').toString();
    expect(decoded).to.equal('the certificate');
  });

  it('is readable by its owner only', async () => {
    await using scratch = await scratchFolder();
    const path = await writeKubeconfig(join(scratch.path, 'jane'), CONTENT);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
  });
});
