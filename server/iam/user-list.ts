import type { User } from '../../apis/iam/v1beta1/user.ts';
import { newBadRequest } from '../../apis/meta/v1/errors.ts';
import type { StatusCause } from '../../apis/meta/v1/status.ts';

export interface UserPage {
  readonly items: readonly User[];
  /** How many there are on all pages. */
  readonly totalItems: number;
}

const MOST = 1000;
const PARAMETERS = new Set(['name', 'group', 'disabled', 'page', 'limit']);

/**
 * Users by name, narrowed by `name` (a part of the name, the display name or the address, in any case), `group` (its
 * whole name) and `disabled` (true, false); `limit` of them from page `page` on, or all. Throws BadRequest for any
 * parameter that it does not understand.
 */
export function selectUsers(users: Iterable<User>, query: URLSearchParams): UserPage {
  const faults: StatusCause[] = [];
  const fault = (field: string, message: string): void => void faults.push({ field, message });
  for (const parameter of new Set(query.keys())) {
    if (!PARAMETERS.has(parameter))
      fault(parameter, `is not known here; known are ${[...PARAMETERS].join(', ')}`);
    else if (query.getAll(parameter).length > 1) fault(parameter, 'is given more than once');
  }
  const limit = count(query, 'limit', MOST, fault);
  const page = count(query, 'page', Number.MAX_SAFE_INTEGER, fault) ?? 1;
  const disabled = query.get('disabled');
  if (disabled !== null && disabled !== 'true' && disabled !== 'false')
    fault('disabled', 'must be true or false');
  if (faults.length > 0) {
    throw newBadRequest(faults.map(({ field, message }) => `${field} ${message}`).join('; '), faults);
  }

  const part = (query.get('name') ?? '').toLowerCase();
  const group = query.get('group') ?? '';
  const found = [...users]
    .filter(({ metadata, spec }) => {
      const { displayName = '', email = '', groups = [] } = spec;
      if (group !== '' && !groups.includes(group)) return false;
      if (disabled !== null && (spec.disabled === true) !== (disabled === 'true')) return false;
      return (
        part === '' || [metadata.name, displayName, email].some((text) => text.toLowerCase().includes(part))
      );
    })
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const items = limit === undefined ? found : found.slice((page - 1) * limit, page * limit);
  return { items, totalItems: found.length };
}

function count(
  query: URLSearchParams,
  parameter: string,
  most: number,
  fault: (field: string, message: string) => void,
): number | undefined {
  const text = query.get(parameter);
  if (text === null) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  fault(parameter, `must be a whole number from 1 to ${most}`);
  return undefined;
}
