// Reasons why files cannot be read, for messages.
import { codeOf } from '../../apis/reading/thrown-value.ts';

/** Returns the reason why a file cannot be read, without the file name. */
export function describeFileError(error: unknown): string {
  const code = codeOf(error) ?? String(error);
  return REASONS[code] ?? `it is not readable (${code})`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  ERR_PIPE: 'it is a pipe',
  ERR_SILENT_PIPE: 'it is a pipe to which no program writes',
  ERR_NO_CERTIFICATE: 'it contains no certificate',
};
