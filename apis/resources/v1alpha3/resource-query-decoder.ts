// Decoder of the query parameters of lists under `/kapis`, including label selectors and field selectors.
import { parseFieldSelector } from '../../meta/v1/field-selector.ts';
import { parseLabelSelector } from '../../meta/v1/label-selector.ts';
import { MAX_REQUIREMENTS } from '../../meta/v1/label-selector-parser.ts';
import { QueryDecoder } from '../../meta/v1/query-decoder.ts';
import type { StatusCause } from '../../meta/v1/status.ts';
import { acceptedNames, quoted } from '../../reading/schema-error.ts';
import type { Format } from '../../reading/schema-validator.ts';
import { type QueriedKind, type ResourceQuery, resourceQuerySchema } from './resource-query.ts';

interface DecodedKind extends QueriedKind {
  /** Fields of field selectors. */
  readonly fields: readonly string[];
  /** Why a printer column cannot be a sort key, by the key. */
  readonly unsortable?: ReadonlyMap<string, string> | undefined;
}

/** Accepted parameters by their names in other systems. */
const OTHER_PARAMETERS: Readonly<Record<string, string>> = {
  keyword: 'q',
  order: 'ascending',
  orderby: 'sortBy',
  page_size: 'limit',
  pagesize: 'limit',
  reverse: 'ascending',
  search: 'q',
  size: 'limit',
  sort: 'sortBy',
  state: 'status',
};

const FACETS = new Set(['status', 'namespace', 'ownerKind']);

export interface ResourceQueryDecoder {
  /** Throws BadRequest with all validation errors. */
  decode(query: URLSearchParams): ResourceQuery;
}

export function newResourceQueryDecoder(kind: DecodedKind): ResourceQueryDecoder {
  const decoder = new QueryDecoder(resourceQuerySchema(kind), {
    formats: { 'label-selector': LABEL_SELECTOR, 'field-selector': fieldSelector(kind.fields) },
    otherParameters: OTHER_PARAMETERS,
    words: (parameter, value) => {
      const reason = parameter === 'sortBy' ? kind.unsortable?.get(String(value)) : undefined;
      return reason === undefined ? undefined : `cannot be a sort key: ${reason}`;
    },
    contradictions: (query) => {
      const given = query as Given;
      return [...facetErrors(given), ...namespaceErrors(given)];
    },
  });
  return {
    decode: (query) => {
      const { namespace, ...rest } = decoder.decode(query) as Given;
      return namespace === undefined ? rest : { ...rest, namespaces: [namespace] };
    },
  };
}

type Given = ResourceQuery & { readonly namespace?: string };

const LABEL_SELECTOR: Format = {
  noun: 'a selector',
  check: (text) => checkCount(parseLabelSelector(text).requirements.length),
};

function fieldSelector(fields: readonly string[]): Format {
  return {
    noun: 'a selector',
    check: (text) => {
      const requirements = parseFieldSelector(text);
      checkCount(requirements.length);
      for (const { field } of requirements) {
        if (fields.includes(field)) continue;
        throw new Error(`unknown field ${quoted(field)}${acceptedNames(field, fields)}`);
      }
    },
  };
}

function checkCount(requirements: number): void {
  if (requirements > MAX_REQUIREMENTS) throw new Error(`it has more than ${MAX_REQUIREMENTS} requirements`);
}

function facetErrors({ facets = [] }: ResourceQuery): StatusCause[] {
  return facets
    .filter((facet) => !FACETS.has(facet) && !/^label:./.test(facet))
    .map((facet) => ({
      reason: 'FieldValueNotSupported',
      message: `must be one of ${[...FACETS].join(', ')}, label:KEY, not ${quoted(facet)}`,
      field: 'facets',
    }));
}

function namespaceErrors({ namespace, namespaces }: Given): StatusCause[] {
  if (namespace === undefined || !namespaces) return [];
  const message = 'cannot be combined with namespaces';
  return [{ reason: 'FieldValueForbidden', message, field: 'namespace' }];
}
