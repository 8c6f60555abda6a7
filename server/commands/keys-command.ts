// `ks-apiserver keys`: lists the signing keys, or requests a key rotation. The output never contains key material.
import { isNotFound } from '../../apis/meta/v1/errors.ts';
import { type CommandLine, UsageError, unknownCommand } from '../../apis/reading/command-line.ts';
import { KEYS_SECRET } from '../oauth/keys/key-rotator.ts';
import { KeySecret } from '../oauth/keys/key-secret.ts';
import { type Command, type CommandContext, runCommandLine } from './command.ts';
import { INSTALLATION_FLAGS, withInstallation } from './installation.ts';

const LINE = {
  command: 'ks-apiserver keys',
  usage: ['list [options]', 'rotate [--immediately] [options]'],
  about: `list                  lists the keys: ID, state, times
rotate                publishes a new key now, and signs with it when all verifiers have fetched it
rotate --immediately  after a leak: revokes all keys, sessions and tokens, and the serving CA`,
  flags: {
    immediately: { description: 'revoke all keys, sessions and tokens' },
    ...INSTALLATION_FLAGS,
  },
  maxArguments: 1,
} as const satisfies CommandLine;

const TIMEOUT_MS = 30_000;

export const keysCommand: Command = (context) =>
  runCommandLine(LINE, context, async ({ values, positionals: [action] }) => {
    if (action !== 'list' && action !== 'rotate') throw unknownCommand(action, ['list', 'rotate']);
    const { immediately } = values;
    if (action === 'list' && immediately) throw new UsageError('--immediately is only valid with rotate');
    return withInstallation(values, context, async ({ client, namespace }) => {
      const secret = new KeySecret(client, { namespace, name: KEYS_SECRET });
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const work =
        action === 'list' ? list(secret, context, signal) : rotate(secret, immediately, context, signal);
      await work.catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        throw new Error(
          `Secret ${KEYS_SECRET} not found in namespace ${namespace}: the server creates its keys at its first start; for another installation, see --help`,
        );
      });
      return 0;
    });
  });

async function list(secret: KeySecret, { print }: CommandContext, signal: AbortSignal): Promise<void> {
  const { set, request } = await secret.read(signal);
  for (const { kid, state, createdAt, activeAt, verifyUntil } of set.keys) {
    const end = verifyUntil === undefined ? '' : `, verifies tokens until ${time(verifyUntil)}`;
    print(`${kid}  ${state}, created ${time(createdAt)}, signs from ${time(activeAt)}${end}\n`);
  }
  if (request) print(`requested, pending: ${request}\n`);
}

async function rotate(
  secret: KeySecret,
  immediately: boolean,
  { print }: CommandContext,
  signal: AbortSignal,
): Promise<void> {
  const request = immediately ? 'immediate' : 'graceful';
  await secret.requestRotation(request, signal);
  print(`requested: ${request}; the elected replica rotates the keys within seconds\n`);
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
