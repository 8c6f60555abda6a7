// Artifact with the unpacked Debian packages of a real node and of its images.
import { join } from 'node:path';
import { type BuildOptions, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { unpackPackages } from '../artifacts/debian-packages.ts';

const TITLE = 'cluster packages';

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
  const hash = await hashOfInputs({ folder: import.meta.dirname, files: [], settings: [NODE, IMAGE] });
  const folder = await provide(
    {
      title: TITLE,
      name: `cluster-packages-${hash}`,
      make: async (staging) => {
        options.progress(`${TITLE}: downloading ${NODE.length + IMAGE.length} Debian packages (once)`);
        await unpackPackages(NODE, join(staging, 'node'), TITLE, options);
        await unpackPackages(IMAGE, join(staging, 'image'), TITLE, options);
      },
    },
    options,
  );
  return { node: join(folder, 'node'), image: join(folder, 'image') };
}

/** Environment in which the programs find each other. with-libraries.sh gives them their libraries. */
export function environmentOf({ node }: Packages, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folders = ['usr/bin', 'usr/sbin', 'sbin'].map((folder) => join(node, folder));
  return { ...env, PATH: [...folders, env['PATH'] ?? ''].join(':') };
}
