import { record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { type Member, memberNamed, objectMembers } from './raw-json.ts';

/** What the reflector itself needs to know of an object: nothing but its `metadata` is parsed. */
export interface EventMetadata {
  /** Empty on bookmarks, as the uid is. */
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** True on the bookmark that ends the initial events of a streaming list. */
  readonly initialEventsEnd: boolean;
}

/** `members` are those of the object, where they are known. */
export function eventMetadata(
  object: Buffer,
  members: readonly Member[] = objectMembers(object),
): EventMetadata {
  const member = memberNamed(members, 'metadata');
  const metadata: unknown = member ? JSON.parse(object.toString('utf8', member.start, member.end)) : {};
  const { name, uid, resourceVersion } = record(metadata);
  if (typeof resourceVersion !== 'string' || !/^\d+$/.test(resourceVersion)) {
    throw new SyntaxError('a watch event whose object has no resourceVersion');
  }
  const annotations = recordIn(metadata, 'annotations');
  return {
    name: text(name),
    uid: text(uid),
    resourceVersion,
    initialEventsEnd: annotations['k8s.io/initial-events-end'] === 'true',
  };
}
