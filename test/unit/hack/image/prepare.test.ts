// Tests of /app in the image: the packages are copies of the installed ones, the commands are those of the Containerfile.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { LockedPackage } from '../../../../hack/dependencies/lockfile-rules.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const CLIENTS = 'node_modules/@kubernetes/client-node/dist/gen/apis';

/** The packages that `npm ci --omit=dev` installs on this machine, by path. */
async function productionPackages(): Promise<[string, LockedPackage][]> {
  const { packages }: { packages: Record<string, LockedPackage & { dev?: boolean }> } = JSON.parse(
    await readFile(join(ROOT, 'package-lock.json'), 'utf8'),
  );
  return Object.entries(packages).filter(
    ([path, { dev }]) => path !== '' && dev !== true && existsSync(join(ROOT, path)),
  );
}

describe('the application in the image', function () {
  this.timeout(60_000);

  let scratch: Awaited<ReturnType<typeof scratchFolder>>;
  const run = (command: string) => promisify(execFile)('/bin/sh', ['-c', command], { cwd: scratch.path });

  async function prepare(): Promise<string> {
    const containerfile = await readFile(join(ROOT, 'hack/image/Containerfile'), 'utf8');
    const commands = [...containerfile.matchAll(/^RUN ((?:npm sbom|node prepare).*)$/gm)];
    for (const [, command = ''] of commands) await run(command);
    return readFile(join(scratch.path, 'sbom.json'), 'utf8');
  }

  let sbom: string;
  before(async () => {
    scratch = await scratchFolder();
    const packages = (await productionPackages()).map(([path]) => path);
    const files = ['package.json', 'package-lock.json', '.npmrc', 'apis', 'server', ...packages];
    const copied = files.filter((path) => !path.includes('/node-linux-'));
    // Faster than node:fs for 9,000 files.
    await promisify(execFile)('cp', ['-R', '--parents', ...copied, scratch.path], { cwd: ROOT });
    for (const name of ['prepare.ts', 'fill-compile-cache.ts']) {
      await cp(join(ROOT, 'hack/image', name), join(scratch.path, name));
    }
    expect(existsSync(join(scratch.path, CLIENTS))).to.equal(true);
    sbom = await prepare();
  });
  after(() => scratch[Symbol.asyncDispose]());

  it('has an SBOM with the licence and the hash of each production package', async () => {
    const { components } = JSON.parse(sbom);
    const listed = new Map<string, Record<string, unknown>>();
    for (const component of components) listed.set(component['bom-ref'], component);
    const expected = (await productionPackages()).filter(([path]) => !/\/(?:bare-|node-linux-)/.test(path));
    for (const [path, { version, license = '', integrity = '' }] of expected) {
      const name = path.replace(/^.*node_modules\//, '');
      const component = listed.get(`${name}@${version}`);
      const hash = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
      expect(component, path).to.deep.include({
        name,
        version,
        purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
        // On arm64, one entry of the lockfile has neither.
        ...(integrity && {
          licenses: [/ OR | AND /.test(license) ? { expression: license } : { license: { id: license } }],
          hashes: [{ alg: 'SHA-512', content: hash }],
        }),
      });
    }
    const ids = new Set(
      expected.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`),
    );
    expect([...listed.keys()].filter((id) => !ids.has(id))).to.deep.equal([`node@${process.versions.node}`]);
  });

  it('has the same SBOM after a second build', async () => {
    expect(JSON.parse(sbom).metadata.component.name).to.equal('ks-apiserver');
    expect(await prepare()).to.equal(sbom);
  });

  it('has the same compile cache after a second build, valid for the options of the server', async () => {
    const containerfile = await readFile(join(ROOT, 'hack/image/Containerfile'), 'utf8');
    const fill: string[] = JSON.parse(/^RUN (\[.*)$/m.exec(containerfile)?.[1] ?? '[]');
    const program = await readFile(join(ROOT, 'hack/image/ks-apiserver'), 'utf8');
    const serve = /^exec (node .*) "\$@"$/m.exec(program)?.[1]?.replace('/app/', '').split(' ') ?? [];
    const cacheOf = async (command: string[], folder: string): Promise<string[]> => {
      await run(`NODE_COMPILE_CACHE=${folder} '${process.execPath}' ${command.slice(1).join(' ')}`);
      const { stdout } = await run(`cd ${folder} && find . -type f | sort | xargs sha256sum`);
      return stdout.trim().split('\n');
    };
    const first = await cacheOf(fill, 'first');
    expect(first).to.have.length.above(2000);
    expect(await cacheOf(fill, 'second')).to.deep.equal(first);
    expect(await cacheOf([...serve, '--version'], 'first')).to.deep.equal(first);
  });

  it('loads all modules of the server without the removed files', async () => {
    expect(existsSync(join(scratch.path, CLIENTS))).to.equal(false);
    const { stdout } = await run(`'${process.execPath}' fill-compile-cache.ts version`);
    expect(stdout).to.match(/^ks-apiserver /);
  });
});
