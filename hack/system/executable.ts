import { access, constants } from 'node:fs/promises';

/** Returns the path of an executable file, or undefined for any other path. */
export async function executable(path: string): Promise<string | undefined> {
  return access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  );
}
