// Which form of an answer a reader of a resource gets, remembered for the few Accept headers that there are.
import { BoundedMap } from '../../memory/bounded-map.ts';
import { type Conversion, type MediaType, negotiate, PLAIN_JSON } from '../accept.ts';

export type ReadVerb = 'get' | 'list' | 'watch';

/** Clients choose the headers, so what is remembered of them is bounded in number and in length. */
const MAX_REMEMBERED = 64;
const MAX_LENGTH = 1024;

const KINDS: Readonly<Record<ReadVerb, readonly string[]>> = {
  get: ['Table', 'PartialObjectMetadata'],
  list: ['Table', 'PartialObjectMetadataList'],
  watch: ['Table', 'PartialObjectMetadata'],
};

function allowed(verb: ReadVerb, conversion: Conversion | undefined): boolean {
  if (!conversion) return true;
  const { kind, group, version } = conversion;
  return group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1') && KINDS[verb].includes(kind);
}

export class Negotiator {
  readonly #remembered: Readonly<Record<ReadVerb, BoundedMap<string, MediaType>>> = {
    get: new BoundedMap(MAX_REMEMBERED),
    list: new BoundedMap(MAX_REMEMBERED),
    watch: new BoundedMap(MAX_REMEMBERED),
  };

  /** Throws NotAcceptable. */
  negotiate(header: string | undefined, verb: ReadVerb): MediaType {
    if (header === undefined || header === '') return PLAIN_JSON;
    const remembered = this.#remembered[verb];
    const known = remembered.get(header);
    if (known) return known;
    const media = negotiate(header, (conversion) => allowed(verb, conversion));
    if (header.length <= MAX_LENGTH) remembered.set(header, media);
    return media;
  }
}
