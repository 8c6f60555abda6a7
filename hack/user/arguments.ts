import { commandFault, parseCommandLine, UsageError, unexpectedArgument } from '../terminal/usage.ts';
import { userNameFault } from './user-name.ts';

export type UserArguments =
  | { readonly command: 'help' }
  | { readonly command: 'restore'; readonly file: string; readonly options: ClusterOptions }
  | { readonly command: 'create' | 'password'; readonly name: string; readonly options: UserOptions };

export interface ClusterOptions {
  readonly kubeconfig: string | undefined;
  readonly platform: string | undefined;
}

export interface UserOptions extends ClusterOptions {
  readonly email: string | undefined;
  readonly displayName: string | undefined;
  readonly groups: readonly string[];
  readonly mustChange: boolean;
  readonly noPassword: boolean;
}

const COMMANDS = ['create', 'password', 'restore'] as const;

export const USAGE = `Usage: npm run user -- COMMAND NAME [--kubeconfig FILE] [--platform NAME]

  create NAME [--email ADDRESS] [--display-name TEXT] [--group GROUP]... [--must-change] [--no-password]
  password NAME [--must-change]
  restore FILE

The password is asked for, or read from standard input:  printf %s "$PASSWORD" | npm run user -- create ada

restore puts users and their passwords back that were saved with
  kubectl get users.iam.platform.io,credentials.iam.platform.io -o json > FILE

  --must-change      the user has to replace it at the first sign-in, on the sign-in page
  --no-password      nobody can sign in as the user until one is set
  --kubeconfig FILE  the cluster; without it KUBECONFIG, or ~/.kube/config
  --platform NAME    of the platform; that of the manifests unless told otherwise
  -h, --help         this text

Everything else is kubectl's: kubectl get users, kubectl edit user NAME, kubectl delete user NAME.
`;

/** Throws UsageError. */
export function parseUserArguments(args: readonly string[]): UserArguments {
  const { values, positionals } = parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: {
      kubeconfig: { type: 'string' },
      platform: { type: 'string' },
      email: { type: 'string' },
      'display-name': { type: 'string' },
      group: { type: 'string', multiple: true, default: [] },
      'must-change': { type: 'boolean', default: false },
      'no-password': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return { command: 'help' };
  const [given, name, unexpected] = positionals;
  const command = COMMANDS.find((known) => known === given);
  if (command === undefined) throw commandFault(given, COMMANDS);
  if (name === undefined) {
    const what = command === 'restore' ? 'the file: restore FILE' : `the name of the user: ${command} NAME`;
    throw new UsageError(`${command} needs ${what}`);
  }
  if (unexpected !== undefined) throw unexpectedArgument(unexpected);
  const cluster = { kubeconfig: values.kubeconfig, platform: values.platform };
  if (command === 'restore') return { command, file: name, options: cluster };
  const fault = userNameFault(name);
  if (fault !== undefined) throw new UsageError(fault);
  return {
    command,
    name,
    options: {
      ...cluster,
      email: values.email,
      displayName: values['display-name'],
      groups: values.group,
      mustChange: values['must-change'],
      noPassword: values['no-password'],
    },
  };
}
