import { codeOf } from '../../../apis/reading/thrown-value.ts';

/** Why a file cannot be read, for people, without its name; the bare code where nobody has met it yet. */
export function describeFileError(error: unknown): string {
  const code = codeOf(error) ?? String(error);
  return REASONS[code] ?? `it cannot be read (${code})`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
};
