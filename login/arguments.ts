// Parser of the command line of `npm run login`. kubectl starts the command `get-token`, users start the others.
import { parseArgs } from 'node:util';
import { KUBECTL_CLIENT } from '../apis/oauth/kubectl-client.ts';
import { messageOf } from '../apis/reading/thrown-value.ts';
import { LoginError } from './login-error.ts';

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

/** An invalid command line; `message` is one line. */
export class UsageError extends LoginError {}

export const USAGE = `Usage: npm run login -- [SERVER] [--ca FILE] [--device] [--context NAME] [--kubeconfig FILE]
       npm run login -- logout [--context NAME] [--kubeconfig FILE]

Signs in to SERVER, such as https://api.example.com, and adds a context to the kubeconfig. kubectl then gets its tokens
from this program. Without SERVER, signs in again to the server of the context.

  --ca FILE          CA certificates of the server, PEM (default: those of the context, else those of the system)
  --device           signs in on another device, such as a phone (default if this machine has no browser)
  --context NAME     context to add or to sign in to (default: host of SERVER, else the current context)
  --kubeconfig FILE  default: the first file of KUBECONFIG, then ~/.kube/config
  --client-id ID     OAuth client (default: that of the context, else ${KUBECTL_CLIENT})
  -h, --help         this text

logout terminates the session at the server and deletes the stored tokens.
`;

const OPTIONS = {
  ca: { type: 'string' },
  device: { type: 'boolean', default: false },
  context: { type: 'string' },
  kubeconfig: { type: 'string' },
  'client-id': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Values = ReturnType<typeof parse>['values'];

/** Throws UsageError. */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parse(args);
  if (values.help) return { command: 'help' };
  const empty = Object.entries(values).find(([, value]) => value === '');
  if (empty) throw new UsageError(`--${empty[0]} needs a value; see --help`);
  const [first, ...rest] = positionals;
  if (first === 'get-token') return getToken(values, rest);
  if (first === 'logout') {
    refuseMore(rest);
    return { command: 'logout', context: values.context, kubeconfig: values.kubeconfig };
  }
  refuseMore(rest);
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

function getToken(values: Values, [server, ...rest]: readonly string[]): Arguments {
  refuseMore(rest);
  const { context, 'client-id': clientID, ca } = values;
  if (server === undefined || context === undefined || clientID === undefined) {
    throw new UsageError('get-token needs SERVER, --context and --client-id');
  }
  return { command: 'get-token', target: { server: originOf(server), context, clientID }, caFile: ca };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${messageOf(error).split(/\. |\n/)[0]}; see --help`);
  }
}

function refuseMore([unexpected]: readonly string[]): void {
  if (unexpected !== undefined) throw new UsageError(`unexpected argument "${unexpected}"; see --help`);
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
