// The list of users: filtered, sorted and encoded in time slices, because it can contain every user of the platform.
import type { UserQuery } from '../../apis/iam/v1beta1/requests.ts';
import { USER, type User } from '../../apis/iam/v1beta1/user-resource.ts';
import { mergeSort } from '../concurrency/merge-sort.ts';
import type { TimeSlices } from '../concurrency/time-slicer.ts';
import { writeBody } from '../http/response-writer.ts';
import { sliced } from '../lists/platform-body.ts';
import { userObject } from '../oauth/users/user-directory.ts';
import type { RequestContext } from '../request/request-context.ts';
import { ordered } from '../resources/kind-profile.ts';

/** Number of users that are filtered or encoded at once. */
const STEP = 100;

interface UserListOptions {
  readonly apiVersion: string;
  readonly group: string;
  readonly slices: TimeSlices;
}

/** Writes one page. `totalItems` counts the users of all pages. */
export async function writeUserList(
  { response, signal }: RequestContext,
  users: Iterable<User>,
  query: UserQuery,
  { apiVersion, group, slices }: UserListOptions,
): Promise<void> {
  const { page, limit } = query;
  const found = await selected([...users], query, slices);
  const items = limit < 0 ? found : found.slice((page - 1) * limit, page * limit);
  function* body(): Generator<Buffer> {
    yield Buffer.from(`{"kind":"${USER.kind}List","apiVersion":"${apiVersion}","metadata":{},"items":[`);
    for (let at = 0; at < items.length; at += STEP) {
      const step = items.slice(at, at + STEP).map((user) => JSON.stringify(userObject(group, user)));
      yield Buffer.from(`${at === 0 ? '' : ','}${step.join()}`);
    }
    yield Buffer.from(`],"totalItems":${found.length}}\n`);
  }
  // `no-store`, because the body contains personal data.
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  await writeBody(response, sliced(body(), slices), signal);
}

async function selected(users: readonly User[], query: UserQuery, slices: TimeSlices): Promise<User[]> {
  const { sortBy, ascending = sortBy === 'name' } = query;
  const matches = matcher(query);
  const found: User[] = [];
  for (let at = 0; at < users.length; at += STEP) {
    if (slices.spent) await slices.next();
    found.push(...users.slice(at, at + STEP).filter(matches));
  }
  const compare = (a: User, b: User): number => {
    const order = sortBy === 'name' ? 0 : ordered(createdAt(a), createdAt(b));
    return (ascending ? 1 : -1) * (order || ordered(a.metadata.name, b.metadata.name));
  };
  return mergeSort(found, compare, slices);
}

function matcher({ name = '', group = '', disabled: onlyDisabled }: UserQuery): (user: User) => boolean {
  const part = name.toLowerCase();
  return ({ metadata, spec }) => {
    const { displayName = '', email = '', groups = [], disabled = false } = spec;
    if (group !== '' && !groups.includes(group)) return false;
    if (onlyDisabled !== undefined && disabled !== onlyDisabled) return false;
    return (
      part === '' || [metadata.name, displayName, email].some((text) => text.toLowerCase().includes(part))
    );
  };
}

/** RFC 3339 in UTC with whole seconds, which sorts as text. */
function createdAt({ metadata }: User): string {
  return metadata.creationTimestamp ?? '';
}
