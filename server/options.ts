// Parser of the command-line flags. Options without a flag are set in the configuration file.
import { parseArgs } from 'node:util';
import type { Override } from '../apis/config/v1alpha1/error-locator.ts';
import { suggestion } from '../apis/reading/suggestion.ts';

interface Flag {
  readonly name: string;
  /** One-letter form. */
  readonly short?: string;
  /** Placeholder of the value in the help. Undefined for a flag without a value. */
  readonly value?: string;
  readonly description: string;
  /** Path of the option that the flag overrides. */
  readonly path?: readonly string[];
  readonly read?: (text: string) => unknown;
}

/** All flags; parsing and --help use this list. */
export const FLAGS: readonly Flag[] = [
  { name: 'config', value: 'FILE', description: 'configuration file (APIServerConfiguration, YAML)' },
  {
    name: 'kubeconfig',
    value: 'FILE',
    description:
      'kubeconfig file; default: KUBECONFIG, else the ServiceAccount of the pod, else ~/.kube/config',
    path: ['kubernetes', 'kubeconfig'],
  },
  {
    name: 'secure-port',
    value: 'PORT',
    description: 'port of the TLS listener; 0: a free port',
    path: ['listeners', 'secure', 'port'],
    read: numberOrText,
  },
  {
    name: 'insecure-port',
    value: 'PORT',
    description: 'port of the plain-HTTP listener; 0: a free port',
    path: ['listeners', 'insecure', 'port'],
    read: numberOrText,
  },
  {
    name: 'log-level',
    value: 'LEVEL',
    description: 'debug, info, warn or error',
    path: ['log', 'level'],
  },
  { name: 'log-format', value: 'FORMAT', description: 'json or text', path: ['log', 'format'] },
  { name: 'help', short: 'h', description: 'print this and exit' },
  { name: 'version', description: 'print the version and exit' },
];

/** The parsed command line. Values are validated together with the configuration file. */
export type Options =
  | { readonly action: 'help' }
  | { readonly action: 'version' }
  | { readonly action: 'run'; readonly config: string | undefined; readonly overrides: readonly Override[] };

/** An invalid command line; `message` is one line. */
export class UsageError extends Error {
  readonly code = 'ERR_USAGE';
}

export function parseOptions(args: readonly string[]): Options {
  const known = FLAGS.map(({ name, value }) => [name, { type: value ? 'string' : 'boolean' }] as const);
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(known),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  let config: string | undefined;
  const overrides: Override[] = [];
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') throw new UsageError(`unexpected argument "${token.value}"; see --help`);
    const flag = FLAGS.find((each) => namesOf(each).includes(token.rawName));
    if (!flag) throw unknownFlag(token.rawName);
    if (!flag.value) {
      if (token.value !== undefined) throw new UsageError(`--${flag.name} takes no value`);
      if (flag.name === 'help' || flag.name === 'version') return { action: flag.name };
      continue;
    }
    if (
      token.value === undefined ||
      token.value === '' ||
      (!token.inlineValue && token.value.startsWith('--'))
    ) {
      throw new UsageError(`--${flag.name} needs a value: --${flag.name} ${flag.value}`);
    }
    if (flag.path) {
      const value = flag.read ? flag.read(token.value) : token.value;
      overrides.push({ path: flag.path, value, source: `--${flag.name}` });
    } else {
      config = token.value;
    }
  }
  return { action: 'run', config, overrides };
}

export function help(): string {
  const rows = FLAGS.map((flag) => ({
    usage: [namesOf(flag).join(', '), flag.value ?? ''].join(' ').trim(),
    description: flag.description,
  }));
  const width = Math.max(...rows.map(({ usage }) => usage.length));
  return [
    'ks-apiserver: an API server for platforms on Kubernetes: nodes, tokens, users and logs behind one TLS listener.',
    '',
    'Usage: node server/main.ts [flags]',
    '',
    ...rows.map(({ usage, description }) => `  ${usage.padEnd(width)}  ${description}`),
    '',
    'All other options are in the configuration file, see docs/configuration.md. Without a file the defaults apply.',
    'SIGTERM or SIGINT stops the server gracefully; a second signal after at least a second stops it at once.',
  ].join('\n');
}

function namesOf({ name, short }: Flag): readonly string[] {
  return short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
}

function unknownFlag(name: string): UsageError {
  const meant = suggestion(
    name,
    FLAGS.map((flag) => `--${flag.name}`),
  );
  return new UsageError(`unknown flag ${name}; ${meant ? `did you mean ${meant}?` : 'see --help'}`);
}

/** Returns other text unchanged, so that the schema reports the validation error. */
function numberOrText(text: string): unknown {
  return /^\d+$/.test(text) ? Number(text) : text;
}
