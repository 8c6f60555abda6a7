// Artifact with the unpacked Debian packages of a real node and of its images.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideDebianPackages } from '../artifacts/debian-packages.ts';

/** Programs of the node, with the libraries that Debian does not always install. */
const NODE = [
  'buildah',
  'containerd',
  'containernetworking-plugins',
  'nftables',
  'runc',
  'libassuan0',
  'libbsd0',
  'libdevmapper1.02.1',
  'libedit2',
  'libgpgme11',
  'libjansson4',
  'libmnl0',
  'libnftables1',
  'libnftnl11',
  'libseccomp2',
  'libsubid4',
  'libxtables12',
] as const;

/** Libraries of Node.js and a shell: the content of the stand-in for the base image. */
const IMAGE = ['busybox-static', 'libc6', 'libgcc-s1', 'libstdc++6', 'tzdata'] as const;

/** Folders of the unpacked packages. */
export interface Packages {
  readonly node: string;
  readonly image: string;
}

export async function providePackages(options: BuildOptions): Promise<Packages> {
  const title = 'cluster packages';
  const packages = { title, name: 'cluster-packages', folders: { node: NODE, image: IMAGE } };
  const folder = await provideDebianPackages(packages, options);
  return { node: join(folder, 'node'), image: join(folder, 'image') };
}

/** Environment in which the programs find each other. with-libraries.sh gives them their libraries. */
export function environmentOf({ node }: Packages, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folders = ['usr/bin', 'usr/sbin', 'sbin'].map((folder) => join(node, folder));
  return { ...env, PATH: [...folders, env['PATH'] ?? ''].join(':') };
}
