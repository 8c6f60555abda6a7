// The attributes of an entry that a search requests. Active Directory sends the first 1500 values of an attribute, with the option
// `range` in its description, and further ones on request (MS-ADTS, 3.1.1.3.1.3.3).
import type { DirectoryObject } from './directory-object.ts';
import type { SentAttribute } from './ldap-wire.ts';

/** MaxValRange of a domain controller. */
const MAX_VALUES = 1500;

/** `requested`: descriptions of attributes; none for all. `hidden`: names in lower case that the caller cannot read. */
export function sentAttributes(
  object: DirectoryObject,
  requested: readonly string[],
  hidden: ReadonlySet<string>,
): readonly SentAttribute[] {
  const isAll = requested.length === 0 || requested.includes('*');
  const descriptions = new Set([...(isAll ? object.attributeNames : []), ...requested]);
  return [...descriptions].flatMap((description) => {
    const [name = '', option] = description.toLowerCase().split(';');
    const attribute = hidden.has(name) ? undefined : object.attribute(name);
    if (!attribute || attribute.values.length === 0) return [];
    const { type, values } = attribute;
    const [, from = '0', to = '*'] = /^range=(\d+)-(\d+|\*)$/.exec(option ?? '') ?? [];
    if (option === undefined && values.length <= MAX_VALUES) return [attribute];
    const start = Number(from);
    const end = Math.min(values.length, start + MAX_VALUES, to === '*' ? Infinity : Number(to) + 1);
    const range = `${type};range=${start}-${end >= values.length ? '*' : end - 1}`;
    return [
      { type: range, values: values.slice(start, end) },
      ...(option === undefined ? [{ type, values: [] }] : []),
    ];
  });
}
