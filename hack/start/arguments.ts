// Command lines of `npm start` and `npm run dev`.
import { type CommandLine, UsageError, wholeNumber } from '../../apis/reading/command-line.ts';

const DEFAULT_NODES = 5;
/** Limit of one kube-apiserver and KWOK on one machine. */
const MOST_NODES = 10_000;

const LOCAL_FLAGS = {
  nodes: {
    value: 'N',
    description: `number of simulated nodes (default ${DEFAULT_NODES}); further nodes of an earlier start stay`,
  },
  static: {
    description: 'the simulated objects and logs do not change; by default they do, as in a real cluster',
  },
  port: { value: 'PORT', description: 'port of the server; by default the previous one or a free one' },
  console: {
    value: 'ORIGIN',
    description: 'pages of this origin can use the server, and sign in as the client web at ORIGIN/callback',
  },
} as const;

const ABOUT = `Starts a local control plane with simulated nodes, and the server behind its aggregation layer.
The state is stored in .local/ and reused by the next start.`;

export const START = {
  command: 'npm start --',
  usage: ['[--nodes N] [--static] [--port PORT] [--console ORIGIN]', '--kubeconfig FILE [--port PORT]'],
  about: ABOUT,
  flags: {
    ...LOCAL_FLAGS,
    kubeconfig: {
      value: 'FILE',
      description: 'serve this cluster instead; nothing is registered or changed in it',
    },
  },
} as const satisfies CommandLine;

export const DEV = {
  command: 'npm run dev --',
  usage: ['[--nodes N] [--static] [--port PORT] [--console ORIGIN]'],
  about: `${ABOUT}
The server logs to this terminal, and restarts when one of its files is saved.`,
  flags: LOCAL_FLAGS,
  notes: 'To serve an existing cluster: npm start -- --kubeconfig FILE',
} as const satisfies CommandLine;

interface LocalArguments {
  /** Number of simulated nodes. */
  readonly nodes: number;
  /** Whether the simulated objects and logs change. */
  readonly isLively: boolean;
  /** Port of the TLS listener; if undefined, the previous one or a free one. */
  readonly port: number | undefined;
  /** Origin of a console that is developed. */
  readonly console: string | undefined;
}

/** `values` of `npm start` or `npm run dev`. Throws UsageError. */
export function readLocalArguments(values: {
  readonly nodes: string | undefined;
  readonly static: boolean;
  readonly port: string | undefined;
  readonly console: string | undefined;
  readonly kubeconfig?: string | undefined;
}): LocalArguments {
  const { nodes, port, kubeconfig, static: isStatic } = values;
  if (kubeconfig !== undefined) {
    for (const flag of ['nodes', 'static', 'console'] as const) {
      if (values[flag] === undefined || values[flag] === false) continue;
      throw new UsageError(`--${flag} is for a simulated cluster and cannot be combined with --kubeconfig`);
    }
  }
  return {
    nodes: nodes === undefined ? DEFAULT_NODES : wholeNumber('--nodes', nodes, 1, MOST_NODES),
    isLively: !isStatic,
    port: port === undefined ? undefined : wholeNumber('--port', port, 1, 65_535),
    console: values.console === undefined ? undefined : readOrigin(values.console),
  };
}

/** The origin of pages to which a sign-in can lead: with https, or of a loopback address. */
function readOrigin(value: string): string {
  const origin = URL.canParse(value) ? new URL(value).origin : '';
  if (value === origin && /^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|$))/.test(origin))
    return origin;
  throw new UsageError(
    `--console ${value}: expected an origin such as http://127.0.0.1:5173, with https or a loopback address`,
  );
}
