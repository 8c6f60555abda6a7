import { access, constants } from 'node:fs/promises';

/** The path if it is an executable file. */
export async function executable(path: string): Promise<string | undefined> {
  return access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  );
}
