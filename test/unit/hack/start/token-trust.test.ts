import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { prepareTokenTrust } from '../../../../hack/start/token-trust.ts';
import { scratchFolder } from '../../../support/scratch.ts';

describe('the trust of the local kube-apiserver in our tokens', () => {
  it('begins with nobody, is written into the file that kube-apiserver follows, and ends with nobody', async () => {
    await using scratch = await scratchFolder();
    const file = join(scratch.path, 'configuration.yaml');
    const caFile = join(scratch.path, 'ca.crt');
    await writeFile(caFile, 'of the server');
    const trust = await prepareTokenTrust(file);
    const nobody = await readFile(file, 'utf8');
    expect(nobody).to.include('jwt: []');
    const { ino } = await stat(file);
    await trust.establish({ issuer: 'https://127.0.0.1:1234/oauth', caFile, audience: 'platform' });
    expect(await readFile(file, 'utf8'))
      .to.match(/https:\/\/127\.0\.0\.1:1234\/oauth/)
      .and.match(/of the server/);
    expect((await stat(file)).ino).to.equal(ino);
    await trust.withdraw();
    expect(await readFile(file, 'utf8')).to.equal(nobody);
  });

  it('is not taken from a control plane that runs already by a start that is going to be refused', async () => {
    await using scratch = await scratchFolder();
    const file = join(scratch.path, 'configuration.yaml');
    await writeFile(file, 'of the one that runs');
    await prepareTokenTrust(file);
    expect(await readFile(file, 'utf8')).to.equal('of the one that runs');
  });
});
