// Command line of `ks-apiserver user`.
import { isUserName, MAX_USER_NAME, USER_NAME_EXPECTS } from '../../apis/iam/v1beta1/custom-resource.ts';
import {
  type Arguments,
  type CommandLine,
  UsageError,
  unknownCommand,
} from '../../apis/reading/command-line.ts';
import { INSTALLATION_FLAGS, type InstallationArguments } from './installation.ts';

/** `installation`: selects the installation. */
export type UserArguments = { readonly installation: InstallationArguments } & (
  | { readonly action: 'restore'; readonly file: string }
  | { readonly action: 'reset-factors'; readonly name: string }
  | { readonly action: 'create' | 'password'; readonly name: string; readonly options: UserOptions }
);

export interface UserOptions {
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly displayName: string | undefined;
  readonly groups: readonly string[];
  readonly mustChange: boolean;
  readonly noPassword: boolean;
}

const ACTIONS = ['create', 'password', 'reset-factors', 'restore'] as const;

export const USER = {
  command: 'ks-apiserver user',
  usage: [
    'create NAME [options]',
    'password NAME [--must-change] [options]',
    'reset-factors NAME [options]',
    'restore FILE [options]',
  ],
  about: `Prompts for the password, or reads it from standard input:  printf %s "$PASSWORD" | ks-apiserver user create ada

reset-factors replaces the second factors of a user by a one-time code, prints it, and ends the sessions.

restore restores users and their passwords from a file, or with - from standard input. Save it with
  kubectl get users.iam.platform.io,credentials.iam.platform.io,identities.iam.platform.io,authenticators.iam.platform.io -o json > FILE`,
  flags: {
    email: { value: 'ADDRESS', description: 'e-mail address of the new user' },
    'email-verified': { description: 'the address is verified: programs get email_verified' },
    'display-name': { value: 'TEXT', description: 'name of the new user, for people' },
    group: { value: 'GROUP', multiple: true, description: 'group of the new user; may be repeated' },
    'must-change': { description: 'the user must set a new password at the first sign-in' },
    'no-password': { description: 'the new user cannot sign in until a password is set' },
    ...INSTALLATION_FLAGS,
  },
  notes:
    'Use kubectl for everything else: kubectl get users, kubectl edit user NAME, kubectl delete user NAME.',
  maxArguments: 2,
} as const satisfies CommandLine;

/** Throws UsageError. */
export function readUserArguments({ values, positionals }: Arguments<typeof USER.flags>): UserArguments {
  const [given, name] = positionals;
  const action = ACTIONS.find((known) => known === given);
  if (action === undefined) throw unknownCommand(given, ACTIONS);
  if (name === undefined) {
    const what = action === 'restore' ? 'a file: restore FILE' : `a user name: ${action} NAME`;
    throw new UsageError(`${action} needs ${what}`);
  }
  const { config, kubeconfig, platform, namespace } = values;
  const installation = { config, kubeconfig, platform, namespace };
  if (action === 'restore') return { action, file: name, installation };
  if (!isUserName(name)) throw new UsageError(invalidUserName(name));
  if (action === 'reset-factors') return { action, name, installation };
  const options = {
    email: values.email,
    emailVerified: values['email-verified'],
    displayName: values['display-name'],
    groups: values.group,
    mustChange: values['must-change'],
    noPassword: values['no-password'],
  };
  return { action, name, options, installation };
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
