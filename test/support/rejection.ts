/** Resolves with the error of a promise that must reject. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) {
      return error;
    }
    throw new Error('rejected with something that is no Error', { cause: error });
  }
  throw new Error('did not reject');
}
