import { access, constants } from 'node:fs/promises';

/** The path, when a program lies there. */
export async function executable(path: string): Promise<string | undefined> {
  return access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  );
}
