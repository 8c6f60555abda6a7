// Parser of the command line of `npm run user`.
import { isUserName, MAX_USER_NAME, USER_NAME_EXPECTS } from '../../apis/iam/v1beta1/custom-resource.ts';
import { parseCommandLine, UsageError, unexpectedArgument, unknownCommand } from '../terminal/usage.ts';

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

Prompts for the password, or reads it from standard input:  printf %s "$PASSWORD" | npm run user -- create ada

restore restores users and their passwords from a file that was saved with
  kubectl get users.iam.platform.io,credentials.iam.platform.io -o json > FILE

  --must-change      the user must set a new password at the first sign-in
  --no-password      the user cannot sign in until a password is set
  --kubeconfig FILE  the cluster (default: KUBECONFIG, then ~/.kube/config)
  --platform NAME    name of the platform (default: that of the manifests)
  -h, --help         this text

Use kubectl for everything else: kubectl get users, kubectl edit user NAME, kubectl delete user NAME.
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
  if (command === undefined) throw unknownCommand(given, COMMANDS);
  if (name === undefined) {
    const what = command === 'restore' ? 'a file: restore FILE' : `a user name: ${command} NAME`;
    throw new UsageError(`${command} needs ${what}`);
  }
  if (unexpected !== undefined) throw unexpectedArgument(unexpected);
  const cluster = { kubeconfig: values.kubeconfig, platform: values.platform };
  if (command === 'restore') return { command, file: name, options: cluster };
  if (!isUserName(name)) throw new UsageError(invalidUserName(name));
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

function invalidUserName(name: string): string {
  const near = nearestUserName(name);
  const suggestion = near === undefined ? '' : `; did you mean ${near}?`;
  return `invalid user name ${JSON.stringify(name)}: must consist of ${USER_NAME_EXPECTS}${suggestion}`;
}

function nearestUserName(name: string): string | undefined {
  const near = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .slice(0, MAX_USER_NAME)
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  return isUserName(near) ? near : undefined;
}
