import type { Selection } from '../../../../../../server/logging/log-store.ts';

/** What words alone cannot tell; without a field of type wildcard the store says so. */
export function needsWildcard({ text, levels }: Selection): boolean {
  if (levels !== undefined && levels.length > 0) return true;
  if (text === undefined) return false;
  if (text.mode === 'regex') return true;
  if (text.texts.some((one) => one.includes('\u0130'))) return true;
  if (text.mode === 'substring') {
    return (
      text.caseSensitive || text.texts.some((one) => !/^(?=.*[0-9A-Za-z])[0-9A-Za-z_]{1,200}$/.test(one))
    );
  }
  return text.caseSensitive && text.texts.some((one) => one.toLowerCase() !== one.toUpperCase());
}
