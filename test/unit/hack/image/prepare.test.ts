// Tests of the SBOM in the image, with the commands of the Containerfile. test/cluster builds, runs and reproduces the image.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { LockedPackage } from '../../../../hack/dependencies/lockfile-rules.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const run = promisify(execFile);

/** The packages that `npm ci --omit=dev` installs on this machine, by path. */
async function productionPackages(): Promise<[string, LockedPackage][]> {
  const { packages }: { packages: Record<string, LockedPackage & { dev?: boolean }> } = JSON.parse(
    await readFile(join(ROOT, 'package-lock.json'), 'utf8'),
  );
  return Object.entries(packages).filter(
    ([path, { dev }]) => path !== '' && dev !== true && existsSync(join(ROOT, path)),
  );
}

describe('the SBOM in the image', () => {
  it('has the licence and the hash of each production package', async () => {
    await using scratch = await scratchFolder();
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      await cp(join(ROOT, file), join(scratch.path, file));
    await cp(join(ROOT, 'hack/image/prepare.ts'), join(scratch.path, 'prepare.ts'));
    const packages = await productionPackages();
    // Only their folders: the SBOM has the packages that exist.
    for (const [path] of packages) {
      if (!path.includes('/node-linux-')) await mkdir(join(scratch.path, path), { recursive: true });
    }
    const containerfile = await readFile(join(ROOT, 'hack/image/Containerfile'), 'utf8');
    const commands = [...containerfile.matchAll(/^RUN ((?:npm sbom|node prepare).*)$/gm)];
    expect(commands).to.have.length(2);
    for (const [, command = ''] of commands) await run('/bin/sh', ['-c', command], { cwd: scratch.path });
    const sbom = await readFile(join(scratch.path, 'sbom.json'), 'utf8');
    const { components } = JSON.parse(sbom);
    const listed = new Map<string, Record<string, unknown>>();
    for (const component of components) listed.set(component['bom-ref'], component);
    const expected = packages.filter(([path]) => !/\/(?:bare-|node-linux-)/.test(path));
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
});
