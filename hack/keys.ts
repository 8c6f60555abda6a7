// `npm run keys`: lists the signing keys, or requests a key rotation. The output never contains key material.
import { join } from 'node:path';
import { isNotFound } from '../apis/meta/v1/errors.ts';
import { type CommandLine, UsageError, unknownCommand } from '../apis/reading/command-line.ts';
import { KEYS_SECRET } from '../server/oauth/keys/key-rotator.ts';
import { KeySecret, ROTATE_ANNOTATION } from '../server/oauth/keys/key-secret.ts';
import { namesFor, readPlatform } from './generate/names.ts';
import { KUBECONFIG, withGivenCluster } from './terminal/given-cluster.ts';
import { runScript } from './terminal/script.ts';

const LINE = {
  command: 'npm run keys --',
  usage: ['list [options]', 'rotate [--immediately] [options]'],
  about: `list                  lists the keys: ID, state, times
rotate                publishes a new key now, and signs with it when all verifiers have fetched it
rotate --immediately  after a leak: revokes all keys, sessions and tokens, and the serving CA`,
  flags: {
    immediately: { description: 'revoke all keys, sessions and tokens' },
    kubeconfig: KUBECONFIG,
    namespace: { value: 'NAME', description: 'namespace of the server (default: that of the manifests)' },
  },
  maxArguments: 1,
} as const satisfies CommandLine;

await runScript(LINE, async ({ values, positionals }) => {
  const [command] = positionals;
  if (command !== 'list' && command !== 'rotate') throw unknownCommand(command, ['list', 'rotate']);
  if (command === 'list' && values.immediately)
    throw new UsageError('--immediately is only valid with rotate');
  const name = KEYS_SECRET;
  const { namespace = await ownNamespace() } = values;
  return withGivenCluster(values.kubeconfig, async (cluster) => {
    const signal = AbortSignal.timeout(30_000);
    try {
      if (command === 'list') await list(new KeySecret(cluster, { namespace, name }), signal);
      else {
        const request = values.immediately ? 'immediate' : 'graceful';
        await cluster.json({
          method: 'PATCH',
          path: `/api/v1/namespaces/${namespace}/secrets/${name}`,
          headers: { 'content-type': 'application/merge-patch+json' },
          json: { metadata: { annotations: { [ROTATE_ANNOTATION]: request } } },
          signal,
        });
        process.stdout.write(`requested: ${request}; the elected replica rotates the keys within seconds\n`);
      }
      return 0;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      process.stderr.write(
        `Secret ${name} not found in namespace ${namespace}: the server creates it at its first start; see --help\n`,
      );
      return 1;
    }
  });
});

async function list(secret: KeySecret, signal: AbortSignal): Promise<void> {
  const { set, request } = await secret.read(signal);
  for (const { kid, state, createdAt, activeAt, verifyUntil } of set.keys) {
    const end = verifyUntil === undefined ? '' : `, verifies tokens until ${time(verifyUntil)}`;
    process.stdout.write(
      `${kid}  ${state}, created ${time(createdAt)}, signs from ${time(activeAt)}${end}\n`,
    );
  }
  if (request) process.stdout.write(`requested, pending: ${request}\n`);
}

/** Namespace of the platform in the manifests. */
async function ownNamespace(): Promise<string> {
  return namesFor(await readPlatform(join(import.meta.dirname, '../manifests/names.json'))).namespace;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
