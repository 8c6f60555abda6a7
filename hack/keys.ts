// `npm run keys`: lists the signing keys, or requests a key rotation. The output never contains key material.
import { join } from 'node:path';
import { isNotFound } from '../apis/meta/v1/errors.ts';
import { KeySecret, ROTATE_ANNOTATION } from '../server/oauth/keys/key-secret.ts';
import { namesFor, readPlatform } from './generate/names.ts';
import { withGivenCluster } from './terminal/given-cluster.ts';
import { runScript } from './terminal/script.ts';
import { parseCommandLine, UsageError, unexpectedArgument, unknownCommand } from './terminal/usage.ts';

const USAGE = `Usage: npm run keys -- COMMAND [--kubeconfig FILE] [--namespace NAME] [--secret NAME]

  list                   list the keys: ID, state, times
  rotate                 publish a new key now, and sign with it when all verifiers have fetched it
  rotate --immediately   after a leak: revoke all keys, sessions and tokens now

  --kubeconfig FILE      the cluster (default: KUBECONFIG, then ~/.kube/config)
  --namespace NAME       namespace of the server (default: that of the manifests)
  --secret NAME          Secret with the keys (default: ks-apiserver-signing-keys)
  -h, --help             this text
`;

async function main(): Promise<number> {
  const { values, positionals } = parseCommandLine({
    allowPositionals: true,
    options: {
      kubeconfig: { type: 'string' },
      namespace: { type: 'string' },
      secret: { type: 'string', default: 'ks-apiserver-signing-keys' },
      immediately: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const [command, unexpected] = positionals;
  if (command !== 'list' && command !== 'rotate') throw unknownCommand(command, ['list', 'rotate']);
  if (unexpected !== undefined) throw unexpectedArgument(unexpected);
  if (command === 'list' && values.immediately)
    throw new UsageError('--immediately is only valid with rotate');
  const { secret: name, namespace = await ownNamespace() } = values;
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
}

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

await runScript(main);
