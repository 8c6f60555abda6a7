import { access, constants } from 'node:fs/promises';

/** Returns the path if it is an executable file, else undefined. */
export async function executable(path: string): Promise<string | undefined> {
  return access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  );
}
