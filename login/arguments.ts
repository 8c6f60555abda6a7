// Command line of `npm run login`. kubectl starts the command `get-token`, users start the others.
import { KUBECTL_CLIENT } from '../apis/oauth/kubectl-client.ts';
import {
  type CommandLine,
  type Arguments as Given,
  parseCommandLine,
  rejectMore,
  UsageError,
} from '../apis/reading/command-line.ts';

/** A server, and the names under which the sign-in is stored. */
export interface Target {
  /** Origin, such as `https://api.example.com`. */
  readonly server: string;
  /** Name of the context, the cluster and the user in the kubeconfig. */
  readonly context: string;
  readonly clientID: string;
  /** CA certificates, PEM; undefined: those of the system. */
  readonly ca: string | undefined;
}

export interface LoginArguments {
  readonly command: 'login';
  /** Origin; undefined: the server of the context. */
  readonly server: string | undefined;
  readonly context: string | undefined;
  readonly clientID: string | undefined;
  readonly kubeconfig: string | undefined;
  /** PEM file with CA certificates. */
  readonly caFile: string | undefined;
  readonly device: boolean;
}

export interface LogoutArguments {
  readonly command: 'logout';
  readonly context: string | undefined;
  readonly kubeconfig: string | undefined;
}

export interface GetTokenArguments {
  readonly command: 'get-token';
  readonly target: Omit<Target, 'ca'>;
  /** Undefined: kubectl passes the CA of the cluster. */
  readonly caFile: string | undefined;
}

export type Arguments = { readonly command: 'help' } | LoginArguments | LogoutArguments | GetTokenArguments;

/** Version of the protocol between kubectl and `get-token`. */
export const EXEC_API_VERSION = 'client.authentication.k8s.io/v1';

export const LOGIN = {
  command: 'npm run login --',
  usage: [
    '[SERVER] [--ca FILE] [--device] [--context NAME] [--kubeconfig FILE]',
    'logout [--context NAME] [--kubeconfig FILE]',
  ],
  about: `Signs in to SERVER, such as https://api.example.com, and adds a context to the kubeconfig. kubectl then gets its tokens
from this program. Without SERVER, signs in again to the server of the context.`,
  flags: {
    ca: {
      value: 'FILE',
      description:
        'CA certificates of the server, PEM (default: those of the context, else those of the system)',
    },
    device: {
      description: 'signs in on another device, such as a phone (default if this machine has no browser)',
    },
    context: {
      value: 'NAME',
      description: 'context to add or to sign in to (default: host of SERVER, else the current context)',
    },
    kubeconfig: { value: 'FILE', description: 'default: the first file of KUBECONFIG, then ~/.kube/config' },
    'client-id': {
      value: 'ID',
      description: `OAuth client (default: that of the context, else ${KUBECTL_CLIENT})`,
    },
  },
  notes: 'logout terminates the session at the server and deletes the stored tokens.',
  // Those of get-token, which only kubectl starts.
  maxArguments: 2,
} as const satisfies CommandLine;

type Values = Given<typeof LOGIN.flags>['values'];

/** Throws UsageError. */
export function parseArguments(args: readonly string[]): Arguments {
  const given = parseCommandLine(LOGIN, args);
  if (given === undefined) return { command: 'help' };
  const { values, positionals } = given;
  const [first, ...rest] = positionals;
  if (first === 'get-token') return getToken(values, rest);
  if (first === 'logout') {
    rejectMore(rest);
    return { command: 'logout', context: values.context, kubeconfig: values.kubeconfig };
  }
  rejectMore(rest);
  return {
    command: 'login',
    server: first === undefined ? undefined : originOf(first),
    context: values.context,
    clientID: values['client-id'],
    kubeconfig: values.kubeconfig,
    caFile: values.ca,
    device: values.device,
  };
}

/** The arguments with which kubectl starts this program; `parseArguments` reads them. */
export function getTokenArguments({ server, context, clientID }: GetTokenArguments['target']): string[] {
  return ['get-token', server, `--context=${context}`, `--client-id=${clientID}`];
}

function getToken(values: Values, [server]: readonly string[]): Arguments {
  const { context, 'client-id': clientID, ca } = values;
  if (server === undefined || context === undefined || clientID === undefined) {
    throw new UsageError('get-token needs SERVER, --context and --client-id');
  }
  return { command: 'get-token', target: { server: originOf(server), context, clientID }, caFile: ca };
}

/** Tokens are sent over TLS only. A path is rejected, because the authorization server is always at `/oauth`. */
function originOf(text: string): string {
  const url = URL.parse(text);
  const isOrigin =
    url !== null && /^\/(?:oauth\/?)?$/.test(url.pathname) && url.search === '' && url.hash === '';
  if (!isOrigin || url.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw new UsageError(`"${text}" is not the address of a server, such as https://api.example.com`);
  }
  return url.origin;
}
