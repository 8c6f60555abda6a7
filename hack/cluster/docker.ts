// Stand-in for `docker build`, `docker push` and `buildah build`, for the commands of the documents. It builds with the
// buildah of the build cache, and pushes to the containerd of the cluster in KS_CLUSTER_PID instead of a registry.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type CommandLine, unknownCommand } from '../../apis/reading/command-line.ts';
import { runScript } from '../terminal/script.ts';
import { enterCommand, importCommand } from './configuration.ts';
import { ImageStore } from './image-store.ts';
import { environmentOf } from './packages.ts';

const LINE = {
  command: 'docker',
  usage: ['build [options] CONTEXT', 'push TAG'],
  about: 'Builds an image, or pushes it to the cluster of KS_CLUSTER_PID.',
  flags: {
    file: { value: 'FILE', default: 'Dockerfile', description: 'file with the instructions' },
    tag: { value: 'TAG', default: 'localhost/untagged', description: 'name of the image' },
    'no-cache': { description: 'of buildah' },
    timestamp: { value: 'SECONDS', description: 'of buildah' },
    iidfile: { value: 'FILE', description: 'of buildah' },
  },
  maxArguments: 2,
} as const satisfies CommandLine;

await runScript(LINE, async ({ values, positionals }) => {
  const [command, argument = '.'] = positionals;
  const { env } = process;
  const { signal } = new AbortController();
  const root = join(import.meta.dirname, '../..');
  const store = await ImageStore.open(root, { env, signal, progress: () => undefined });
  if (command === 'build') {
    const { file, tag, timestamp, iidfile } = values;
    const options = [
      ...(values['no-cache'] ? ['--no-cache', '--layers=false'] : []),
      ...(timestamp === undefined ? [] : [`--timestamp=${timestamp}`]),
      ...(iidfile === undefined ? [] : [`--iidfile=${resolve(iidfile)}`]),
    ];
    await store.build({ containerfile: resolve(file), context: resolve(argument), tag, options });
    return 0;
  }
  if (command !== 'push') throw unknownCommand(command, ['build', 'push']);
  const folder = await mkdtemp(join(tmpdir(), 'ks-push-'));
  try {
    const archive = join(folder, 'image.tar');
    await store.save(argument, archive);
    const [program, ...args] = enterCommand(Number(env['KS_CLUSTER_PID']), importCommand(archive));
    await promisify(execFile)(program, args, { env: environmentOf(store.packages, env) });
  } finally {
    await rm(folder, { recursive: true });
  }
  return 0;
});
