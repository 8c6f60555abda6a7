// Predicates for log queries that the OpenSearch log store rejects as unsupported. Support depends on index fields
// of type `wildcard`.
import type { Selection } from '../../../../../../server/logging/store/log-store.ts';

/** Selections that are NotSupported with each layout. */
export function isUnsupported({ text, pods, namespaces, containers }: Selection): boolean {
  const isWords = text?.mode === 'phrase' || text?.mode === 'prefix';
  if (isWords && text.caseSensitive && text.texts.some((one) => one.toLowerCase() !== one.toUpperCase())) {
    return true;
  }
  return [pods, namespaces, containers].some((names) => (names?.contains ?? []).join('').length > 8_000);
}

/** The selections that are NotSupported without a field of type wildcard. */
export function isUnsupportedWithoutWildcard(selection: Selection): boolean {
  const { text, levels } = selection;
  if (isUnsupported(selection) || (levels !== undefined && levels.length > 0)) return true;
  if (text === undefined) return false;
  if (text.mode === 'regex') return true;
  if (text.mode !== 'substring') return false;
  return text.caseSensitive || text.texts.some((one) => !/^(?=.*[0-9A-Za-z])[0-9A-Za-z_]{1,200}$/.test(one));
}
