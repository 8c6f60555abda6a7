// Tests of the generated kubeconfig files.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeKubeconfig } from '../../../../hack/control-plane/kubeconfig.ts';
import { scratchFolder } from '../../../support/scratch.ts';

describe('a kubeconfig', () => {
  it('is readable by its owner only', async () => {
    await using scratch = await scratchFolder();
    const content = {
      cluster: 'dev',
      url: 'https://127.0.0.1:6443',
      ca: '',
      user: 'jane',
      pair: { cert: '', key: '' },
    };
    const path = await writeKubeconfig(join(scratch.path, 'jane'), content);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
  });
});
