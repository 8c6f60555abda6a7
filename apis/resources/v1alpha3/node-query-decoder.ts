// Decoder of the query parameters of the node list for consoles (`/kapis`). It also parses the label selector and the
// field selector.
import { parseFieldSelector } from '../../meta/v1/field-selector.ts';
import { parseLabelSelector } from '../../meta/v1/label-selector.ts';
import { MAX_REQUIREMENTS } from '../../meta/v1/label-selector-parser.ts';
import { acceptedNames, QueryDecoder, type QueryFormat, quoted } from '../../meta/v1/query-decoder.ts';
import { NODE_FIELDS, NodeQuerySchema } from './node-query.ts';

const FORMATS: Readonly<Record<string, QueryFormat>> = {
  'label-selector': {
    noun: 'a selector',
    check: (text) => checkCount(parseLabelSelector(text).requirements.length),
  },
  'field-selector': {
    noun: 'a selector',
    check: (text) => {
      const requirements = parseFieldSelector(text);
      checkCount(requirements.length);
      for (const { field } of requirements) {
        if (NODE_FIELDS.some((known) => known === field)) continue;
        throw new Error(`unknown field ${quoted(field)}${acceptedNames(field, NODE_FIELDS)}`);
      }
    },
  },
};

const OTHER_PARAMETERS: Readonly<Record<string, string>> = {
  keyword: 'name',
  order: 'ascending',
  orderby: 'sortBy',
  page_size: 'limit',
  pagesize: 'limit',
  q: 'name',
  reverse: 'ascending',
  search: 'name',
  size: 'limit',
  sort: 'sortBy',
  state: 'status',
};

export function newNodeQueryDecoder(): QueryDecoder<typeof NodeQuerySchema> {
  return new QueryDecoder(NodeQuerySchema, { formats: FORMATS, otherParameters: OTHER_PARAMETERS });
}

function checkCount(requirements: number): void {
  if (requirements > MAX_REQUIREMENTS) throw new Error(`it has more than ${MAX_REQUIREMENTS} requirements`);
}
