// Values extracted from an object of any kind for filters, sorting and search. The values are extracted once for each
// resourceVersion of an object.
import { array, optionalTime, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { SharedValues } from '../memory/shared-values.ts';

export interface ObjectFacts {
  /** Creation time in seconds since the epoch; 0 if there is none. */
  readonly createdAt: number;
  /** The words that `status` selects. The first one is the status; empty if the kind has no status. */
  readonly status: readonly string[];
  /** The display name; empty if there is none. */
  readonly alias: string;
  /** A value that is too long for a selector is replaced by a placeholder, to save memory. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly owners: readonly Owner[];
  /** Text for `q` in lower case, one value per line, without the name and the namespace. */
  readonly searchText: string;
}

interface Owner {
  readonly uid: string;
  readonly kind: string;
}

/** Name of the annotation with the display name of an object, without its prefix, the domain of the platform. */
const ALIAS_ANNOTATION = 'alias-name';

/** Maximum length of a label value, and so of a value in a selector. */
export const LONGEST_SELECTABLE = 63;
/** Placeholder that equals no value of a selector. */
const NOT_SELECTABLE = '\0';
/**
 * Bounds of the facts of one object. Tenants write custom resources of 1.5 MB, which are stored compressed; their facts are
 * not.
 */
export const MAX_SEARCH_TEXT = 16 << 10;
const MAX_WORD = 253;
export const MAX_OWNERS = 64;
export const MAX_IMAGES = 256;

/** Facts that are common to all kinds, from a parsed object. */
type CommonFacts = Omit<ObjectFacts, 'status'>;

/**
 * Reads the common facts of the objects of one kind. Equal values of several objects are stored once, because most
 * objects of a kind have the labels, images and owners of many others.
 */
export class FactsReader {
  readonly #aliasAnnotation: string;
  readonly #annotations = new SharedValues<Readonly<Record<string, string>>>();
  readonly #owners = new SharedValues<readonly Owner[]>();
  readonly #texts = new SharedValues<string>();
  readonly #words = new SharedValues<readonly string[]>();

  /** `domain`: of the platform, for instance `platform.io`. */
  constructor(domain: string) {
    this.#aliasAnnotation = `${domain}/${ALIAS_ANNOTATION}`;
  }

  read(object: unknown): CommonFacts {
    const metadata = recordIn(object, 'metadata');
    const annotations = record(metadata['annotations']);
    const alias = Object.hasOwn(annotations, this.#aliasAnnotation)
      ? truncated(text(annotations[this.#aliasAnnotation]), MAX_WORD)
      : '';
    return {
      createdAt: secondsOf(metadata['creationTimestamp']),
      alias,
      annotations: this.#annotations.of(selectable(annotations)),
      owners: this.#owners.of(this.#ownersOf(metadata['ownerReferences'])),
      searchText: this.#texts.of(searchTextOf(alias, record(metadata['labels']), imagesOf(object))),
    };
  }

  #ownersOf(references: unknown): readonly Owner[] {
    return array(references)
      .slice(0, MAX_OWNERS)
      .map(record)
      .map(({ uid, kind }) => ({
        uid: truncated(text(uid), MAX_WORD),
        kind: this.#texts.of(truncated(text(kind), MAX_WORD)),
      }));
  }

  /** Returns the words, as one array for all objects with the same words. */
  words(words: readonly string[]): readonly string[] {
    return this.#words.of(words.map((word) => truncated(word, MAX_WORD)));
  }
}

/** Returns the seconds since the epoch; 0 for a value that is not a time. */
export function secondsOf(timestamp: unknown): number {
  return Math.floor((optionalTime(timestamp) ?? 0) / 1000);
}

function selectable(annotations: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(annotations)) {
    if (typeof value !== 'string') continue;
    kept[key] = value.length <= LONGEST_SELECTABLE ? value : NOT_SELECTABLE;
  }
  return kept;
}

/** Returns the images of the containers of a pod, of a workload's pod template, or of a CronJob's job template. */
function imagesOf(object: unknown): readonly string[] {
  const spec = recordIn(object, 'spec');
  const template = recordIn(recordIn(spec['jobTemplate'], 'spec')['template'] ?? spec['template'], 'spec');
  return [spec, template].flatMap((pod) =>
    [pod['initContainers'], pod['containers']].flatMap((containers) =>
      array(containers)
        .slice(0, MAX_IMAGES)
        .map((container) => text(record(container)['image'])),
    ),
  );
}

/** Returns the start of a text, in memory of its own. A slice would keep the whole text in memory. */
export function truncated(value: string, limit: number): string {
  return value.length <= limit ? value : Buffer.from(value.slice(0, limit)).toString();
}

function searchTextOf(
  alias: string,
  labels: Readonly<Record<string, unknown>>,
  images: readonly string[],
): string {
  let all = [alias, ...new Set(images)].join('\n');
  for (const key of Object.keys(labels)) {
    if (all.length > MAX_SEARCH_TEXT) break;
    if (typeof labels[key] === 'string') all += `\n${key}=${labels[key]}`;
  }
  return truncated(all, MAX_SEARCH_TEXT).toLowerCase();
}
