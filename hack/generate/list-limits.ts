// Limits of lists, search and the kinds that they follow.
import { MAX_FACETS, MAX_VALUES } from '../../apis/resources/v1alpha3/resource-query.ts';
import { MAX_KINDS, MAX_MATCHES } from '../../apis/resources/v1alpha3/search-query.ts';
import { KIND_LIMITS } from '../../server/resources/kinds/followed-kinds-options.ts';
import { MAX_VALUES as FACET_VALUES } from '../../server/resources/lists/facets.ts';
import {
  LONGEST_SELECTABLE,
  MAX_IMAGES,
  MAX_OWNERS,
  MAX_SEARCH_TEXT,
} from '../../server/resources/object-facts.ts';
import { MAX_COLUMNS, MAX_TEXT, MAX_TEXTS } from '../../server/resources/profiles/custom-columns.ts';
import { MAX_LENGTH } from '../../server/resources/profiles/json-path.ts';
import { MAX_VISITS } from '../../server/resources/profiles/json-path-walk.ts';
import { MAX_VALUE } from '../../server/resources/profiles/selectable-fields.ts';
import { count, type Limit, time } from './limit.ts';

const IGNORED = 'the rest is ignored';

export const LIST_ROWS: readonly Limit[] = [
  [
    'followed kinds',
    `${KIND_LIMITS.maxKinds}`,
    'the least recently used kind of the caller who started the most stops, one with live lists only for a caller who started at least two fewer; else 503',
  ],
  ['idle time of a kind', time(KIND_LIMITS.idleTimeout), 'dropped, unless `resources.preload` names it'],
  [
    'wait for the first list of a kind',
    time(KIND_LIMITS.syncTimeout),
    '503 with `Retry-After`; the list continues',
  ],
  ['values of `namespaces`, `names`, `status` and similar parameters', `${count(MAX_VALUES)} each`, '400'],
  [
    'facets of a list; values of a facet',
    `${MAX_FACETS}; ${count(FACET_VALUES)}`,
    '400; the most frequent ones',
  ],
  [
    'kinds of a [search](resource-lists.md#search-over-kinds); matches of a kind',
    `${MAX_KINDS}; ${MAX_MATCHES}`,
    '400',
  ],
  [
    'search text of an object: alias, images and labels',
    `${count(MAX_SEARCH_TEXT)} characters, ${MAX_IMAGES} containers`,
    IGNORED,
  ],
  ['owners of an object', `${MAX_OWNERS}`, IGNORED],
  [
    'characters of a value for `annotation`; for `selectableFields`',
    `${LONGEST_SELECTABLE}; ${count(MAX_VALUE)}`,
    'never selected',
  ],
  [
    '[printer columns](resource-kinds.md#printer-columns) of a kind; characters of a JSON path',
    `${MAX_COLUMNS}; ${count(MAX_LENGTH)}`,
    'no sort key, no column',
  ],
  [
    'visited values for the columns of an object; characters of a text; of all',
    `${count(MAX_VISITS)}; ${count(MAX_TEXT)}; ${count(MAX_TEXTS)}`,
    'the value is missing',
  ],
];
