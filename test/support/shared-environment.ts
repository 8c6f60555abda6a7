// An environment, such as a control plane with a server, that the test files of one process share.
interface Environment {
  stop(): Promise<void>;
}

/**
 * Returns a function that starts the environment at its first call, and then returns the same one. The environment stops
 * after the last test of the process. Call `shareEnvironment` while a module is loaded, because it declares a root hook.
 */
export function shareEnvironment<T extends Environment>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  after('stop the shared environment', async () => {
    // The tests report a failed start.
    await started?.then(
      (environment) => environment.stop(),
      () => undefined,
    );
  });
  return () => {
    started ??= start();
    return started;
  };
}
