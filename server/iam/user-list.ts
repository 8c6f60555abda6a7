import type { UserQuery } from '../../apis/iam/v1beta1/requests.ts';
import type { User } from '../../apis/iam/v1beta1/user.ts';

export interface UserPage {
  readonly items: readonly User[];
  /** How many there are on all pages. */
  readonly totalItems: number;
}

/** Users by name, narrowed by all that the query holds; one page of them, or all. */
export function selectUsers(users: Iterable<User>, query: UserQuery): UserPage {
  const { name = '', group = '', disabled: wanted, page, limit } = query;
  const part = name.toLowerCase();
  const found = [...users]
    .filter(({ metadata, spec }) => {
      const { displayName = '', email = '', groups = [], disabled = false } = spec;
      if (group !== '' && !groups.includes(group)) return false;
      if (wanted !== undefined && disabled !== wanted) return false;
      return (
        part === '' || [metadata.name, displayName, email].some((text) => text.toLowerCase().includes(part))
      );
    })
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const items = limit === undefined ? found : found.slice((page - 1) * limit, page * limit);
  return { items, totalItems: found.length };
}
