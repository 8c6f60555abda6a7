// Tests of the kubelogin of `npm start`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { scratchFolderEach } from '../../../support/scratch.ts';

const RUN = fileURLToPath(new URL('../../../../hack/kubelogin/run.ts', import.meta.url));

describe('the kubelogin of npm start', () => {
  const dir = scratchFolderEach();

  it('reports in one line that its build needs Go', () => {
    const env = { PATH: dir(), HOME: dir() };
    const { status, stderr } = spawnSync(process.execPath, [RUN, 'get-token'], { env, encoding: 'utf8' });
    expect(stderr.trim().split('\n').at(-1)).to.equal(
      'kubelogin: Go is needed once to build it, and "go env" did not run: install Go 1.21 or newer (https://go.dev/dl); or install kubelogin as kubectl-oidc_login on the PATH',
    );
    expect([status, stderr.includes('    at ')]).to.deep.equal([1, false]);
  });
});
