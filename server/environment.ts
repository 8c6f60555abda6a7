// The one place that reads environment variables.

export interface Environment {
  /** KUBECONFIG: a kubeconfig file, or several with the separator of the system. */
  readonly kubeconfig: string | undefined;
  /** POD_NAME: who we are in events, leases and field managers; the host name outside a cluster. */
  readonly instance: string;
  /** UV_THREADPOOL_SIZE: threads that hash passwords, read files and resolve names; 4 unless it is set. */
  readonly threadPoolSize: number;
  /** GIT_COMMIT and BUILD_DATE: set when the image is built, shown by /version. */
  readonly gitCommit: string;
  readonly buildDate: string;
  /** All of it: what programs inherit that we start. */
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
