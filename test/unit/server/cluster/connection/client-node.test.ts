// Tests of the loader of the class KubeConfig.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const SERVER = import.meta.resolve('../../../../../server/');

describe('kubeConfigClass', () => {
  it('loads KubeConfig without the models and clients of the Kubernetes APIs', async () => {
    const program = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      await import(${JSON.stringify(`${SERVER}server.ts`)});
      const { kubeConfigClass } = await import(${JSON.stringify(`${SERVER}cluster/connection/client-node.ts`)});
      new (kubeConfigClass())();
      console.log(JSON.stringify(loaded.filter((url) => url.includes('/client-node/'))));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program]);
    const loaded = JSON.parse(stdout) as string[];
    expect(loaded.filter((url) => url.endsWith('/dist/config.js'))).to.have.length(1);
    expect(loaded.filter((url) => url.includes('/dist/gen/models/'))).to.deep.equal([]);
  });
});
