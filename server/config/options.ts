// Command line of the server. Options without a flag are set in the configuration file.
import type { Override } from '../../apis/config/v1alpha1/error-locator.ts';
import {
  type CommandLine,
  type Flag,
  parseCommandLine,
  UsageError,
} from '../../apis/reading/command-line.ts';

/** The configuration file in the container of the server. */
export const MOUNTED_CONFIGURATION = '/etc/ks-apiserver/configuration.yaml';

/** Readable lines are for development: programs that collect logs read JSON objects. */
const LOG_FORMATS = ['json', 'text'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** A flag that overrides an option of the configuration file. */
interface OverridingFlag extends Flag {
  readonly value: string;
  /** Path of the option. */
  readonly path: readonly string[];
  readonly read?: (text: string) => unknown;
}

const OVERRIDES: Readonly<Record<string, OverridingFlag>> = {
  kubeconfig: {
    value: 'FILE',
    description:
      'kubeconfig file; default: KUBECONFIG, else the ServiceAccount of the pod, else ~/.kube/config',
    path: ['kubernetes', 'kubeconfig'],
  },
  'secure-port': {
    value: 'PORT',
    description: 'port of the TLS listener; 0: a free port',
    path: ['listeners', 'secure', 'port'],
    read: numberOrText,
  },
  'insecure-port': {
    value: 'PORT',
    description: 'port of the plain-HTTP listener; 0: a free port',
    path: ['listeners', 'insecure', 'port'],
    read: numberOrText,
  },
  'log-level': { value: 'LEVEL', description: 'debug, info, warn or error', path: ['log', 'level'] },
};

export const SERVER = {
  command: 'ks-apiserver',
  usage: ['[flags]', 'COMMAND [arguments]'],
  about:
    'Runs an API server for platforms on Kubernetes, with nodes, tokens, users and logs behind one TLS listener, or a command.',
  flags: {
    config: { value: 'FILE', description: 'configuration file (APIServerConfiguration, YAML)' },
    ...OVERRIDES,
    'log-format': { value: 'FORMAT', description: 'json or text', default: 'json' },
    version: { description: 'print the version and exit' },
  },
  notes: `All other options are in the configuration file, see docs/configuration.md. Without a file the defaults apply.
SIGTERM or SIGINT stops the server gracefully; a second signal after at least a second stops it at once.`,
} satisfies CommandLine;

/** The parsed command line. Values are validated together with the configuration file. */
export type Options =
  | { readonly action: 'help' }
  | { readonly action: 'version' }
  | {
      readonly action: 'run';
      readonly config: string | undefined;
      readonly logFormat: LogFormat;
      readonly overrides: readonly Override[];
    };

/** Throws UsageError. */
export function parseOptions(args: readonly string[]): Options {
  const given = parseCommandLine(SERVER, args);
  if (given === undefined) return { action: 'help' };
  if (given.values.version) return { action: 'version' };
  const values: Readonly<Record<string, unknown>> = given.values;
  const overrides = Object.entries(OVERRIDES).flatMap(([name, { path, read }]): Override[] => {
    const value = values[name];
    if (typeof value !== 'string') return [];
    return [{ path, value: read ? read(value) : value, source: `--${name}` }];
  });
  const logFormat = LOG_FORMATS.find((format) => format === values['log-format']);
  if (logFormat === undefined) throw new UsageError('--log-format: must be json or text');
  return { action: 'run', config: given.values.config, logFormat, overrides };
}

/** Returns other text unchanged, so that the schema reports the validation error. */
function numberOrText(text: string): unknown {
  return /^\d+$/.test(text) ? Number(text) : text;
}
