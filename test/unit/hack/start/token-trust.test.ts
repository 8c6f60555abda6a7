// Tests of the AuthenticationConfiguration file for the local kube-apiserver.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { prepareTokenTrust } from '../../../../hack/start/token-trust.ts';
import { scratchFolder } from '../../../support/scratch.ts';

describe('the trust of the local kube-apiserver in our tokens', () => {
  it('starts without an issuer, is written to the file of kube-apiserver, and is removed at the end', async () => {
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

  it('stays for a running control plane when a second start is rejected', async () => {
    await using scratch = await scratchFolder();
    const file = join(scratch.path, 'configuration.yaml');
    await writeFile(file, 'of the one that runs');
    await prepareTokenTrust(file);
    expect(await readFile(file, 'utf8')).to.equal('of the one that runs');
  });
});
