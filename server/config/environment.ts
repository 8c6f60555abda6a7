// Reads the environment variables of the server. No other file reads environment variables.

export interface Environment {
  /** KUBECONFIG: kubeconfig files, separated as in PATH. */
  readonly kubeconfig: string | undefined;
  /** POD_NAME: the identity in events and Leases. Outside a cluster, the host name. */
  readonly instance: string;
  /** UV_THREADPOOL_SIZE: threads for password hashing, files and DNS; 4 by default. */
  readonly threadPoolSize: number;
  /** GIT_COMMIT and BUILD_DATE of the image, for /version. */
  readonly gitCommit: string;
  readonly buildDate: string;
  /** All variables, for child processes. */
  readonly variables: NodeJS.ProcessEnv;
}

export function readEnvironment(variables: NodeJS.ProcessEnv, hostname: string): Environment {
  return {
    kubeconfig: nonEmpty(variables['KUBECONFIG']),
    instance: nonEmpty(variables['POD_NAME']) ?? hostname,
    threadPoolSize: positive(variables['UV_THREADPOOL_SIZE']) ?? 4,
    gitCommit: variables['GIT_COMMIT'] ?? '',
    buildDate: variables['BUILD_DATE'] ?? '',
    variables,
  };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}

function positive(text: string | undefined): number | undefined {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}
