// Tests of the loader of the class KubeConfig, with the installed release of @kubernetes/client-node.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const LOADER = join(import.meta.dirname, '../../../../../server/cluster/connection/client-node.ts');
const PACKAGE = '/@kubernetes/client-node/dist/';

/** Prints the URLs of the modules that the loader loads. */
const SCRIPT = `
import { registerHooks } from 'node:module';
const urls = [];
registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
const { kubeConfigClass } = await import(${JSON.stringify(pathToFileURL(LOADER).href)});
new (kubeConfigClass())().loadFromOptions({ clusters: [], users: [], contexts: [] });
process.stdout.write(JSON.stringify(urls));
`;

describe('kubeConfigClass', () => {
  it('loads the class without the API clients, which would take 0.3 s and 70 MB at each start', async () => {
    const args = ['--input-type=module', '--eval', SCRIPT];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const urls = JSON.parse(stdout) as string[];
    const loaded = urls.filter((url) => url.includes(PACKAGE)).map((url) => url.split(PACKAGE)[1] ?? '');
    expect(loaded).to.include('config.js');
    const clients = loaded.filter((file) => /^gen\/(?:index|apis|models|types)/.test(file));
    expect(clients, 'EXCLUDED in client-node.ts has to contain the import of these files').to.deep.equal([]);
    expect(urls.filter((url) => url.includes('/node_modules/undici/'))).to.deep.equal([]);
  });
});
