// Tests of the AuthenticationConfiguration file for the local kube-apiserver.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { prepareTokenTrust } from '../../../../hack/start/token-trust.ts';
import { scratchFolder } from '../../../support/scratch.ts';

describe('the trust of the local kube-apiserver in our tokens', () => {
  it('stays for a running control plane when a second start is rejected', async () => {
    await using scratch = await scratchFolder();
    const file = join(scratch.path, 'configuration.yaml');
    await writeFile(file, 'of the one that runs');
    await prepareTokenTrust(file);
    expect(await readFile(file, 'utf8')).to.equal('of the one that runs');
  });
});
