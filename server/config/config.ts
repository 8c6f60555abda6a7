// Reads the completed configuration from flags, the configuration file and the environment.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type {
  APIServerConfiguration,
  ResolvedConfiguration,
} from '../../apis/config/v1alpha1/configuration.ts';
import { decodeOptions } from '../../apis/config/v1alpha1/decode.ts';
import type { Override } from '../../apis/config/v1alpha1/error-locator.ts';
import { resolvePaths, resolveUnits } from '../../apis/config/v1alpha1/resolve.ts';
import { StartupError } from '../../apis/config/v1alpha1/startup-error.ts';
import { describeFileError } from '../files/file-error.ts';
import { readFileOrPipe } from '../files/text-file.ts';
import type { Environment } from './environment.ts';

declare const completed: unique symbol;

/** The validated configuration, with all defaults, durations in ms and absolute paths. Only completeConfig creates it. */
export type CompletedConfig = Omit<ResolvedConfiguration, 'platform'> & {
  /** `namespace`: of the server and its Service. */
  readonly platform: { readonly name: string; readonly namespace: string };
  readonly environment: Environment;
  /** Warnings about options without an effect. */
  readonly warnings: readonly string[];
  readonly [completed]: true;
};

interface ConfigSources {
  /** Path of the configuration file. */
  readonly config: string | undefined;
  /** Content of the file, if it is known already. */
  readonly text?: string;
  readonly overrides: readonly Override[];
  readonly environment: Environment;
  readonly workingDirectory: string;
  /** Instead of the namespace of the pod. */
  readonly namespace?: string | undefined;
  readonly namespaceFile?: string;
}

/** The namespace of the pod. Kubernetes mounts it with the token of the ServiceAccount, so the file exists in a pod only. */
const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** Reads and validates the configuration. Throws the errors of readOptions. */
export async function completeConfig(sources: ConfigSources): Promise<CompletedConfig> {
  const { environment } = sources;
  const { options, warnings } = await readOptions(sources);
  const resolved = resolveUnits(options);
  const kubeconfig = resolved.kubernetes.kubeconfig || (environment.kubeconfig ?? '');
  const { name } = resolved.platform;
  const namespace =
    sources.namespace ?? (await podNamespace(kubeconfig, sources.namespaceFile)) ?? `${name}-system`;
  const finished: Omit<CompletedConfig, typeof completed> = {
    ...resolved,
    platform: { name, namespace },
    environment,
    warnings,
    kubernetes: { ...resolved.kubernetes, kubeconfig },
  };
  return finished as CompletedConfig;
}

/** The validated options in the notation of the file, with all defaults and absolute paths. */
interface ReadOptions {
  readonly options: APIServerConfiguration;
  /** Warnings about options without an effect. */
  readonly warnings: readonly string[];
}

/** Reads and validates the options. Throws ConfigurationError with all validation errors, and StartupError for an unreadable file. */
export async function readOptions(sources: ConfigSources): Promise<ReadOptions> {
  const { config, workingDirectory } = sources;
  const path = config === undefined ? undefined : resolve(workingDirectory, config);
  const text = sources.text ?? (path === undefined ? undefined : read(path, config ?? path));
  const warnings: string[] = [];
  const decoded = decodeOptions(
    text === undefined || config === undefined ? undefined : { source: config, text },
    sources.overrides,
    (warning) => warnings.push(warning),
  );
  // Paths in the file are relative to the file, as in a kubeconfig. Paths in flags are relative to the working directory.
  const base = path === undefined ? workingDirectory : dirname(path);
  const absolute = (value: string, option: readonly string[]): string => {
    const fromFlag = sources.overrides.some((override) => override.path.join() === option.join());
    return resolve(fromFlag ? workingDirectory : base, value);
  };
  return { options: resolvePaths(decoded, absolute), warnings };
}

/** Undefined outside a pod, and for another cluster than that of the pod. */
async function podNamespace(kubeconfig: string, file = NAMESPACE_FILE): Promise<string | undefined> {
  return kubeconfig === '' && existsSync(file) ? (await readFile(file, 'utf8')).trim() : undefined;
}

function read(path: string, name: string): string {
  try {
    return readFileOrPipe(path).text;
  } catch (error) {
    throw new StartupError('ERR_CONFIG_FILE', `${name}: ${describeFileError(error)}`, { cause: error });
  }
}
