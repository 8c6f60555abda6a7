// Tests of the OpenSearch log store against OpenSearch 3 and Elasticsearch 8.
import { ELASTICSEARCH_8, OPENSEARCH_3 } from '../../../../../../hack/log-stores/node-kinds.ts';
import type { Selection } from '../../../../../../server/logging/store/log-store.ts';
import { describeOddRecords } from '../../../../../conformance/log-store/odd-records.suite.ts';
import { describeLogStore } from '../../../../../conformance/log-store.suite.ts';
import { describeSeveralValues } from './several-values.suite.ts';
import { oneNode, startedOddStore, startedStore } from './started-node.ts';
import { describeUnsearchableIndices } from './unsearchable-indices.suite.ts';
import { isUnsupported, isUnsupportedWithoutWildcard } from './unsupported-selections.ts';

const indexPrefix = 'logs-versions';
/** Runs the whole conformance suite, which takes minutes. */
const whole = process.env['LOG_STORE_VERSIONS'] === 'whole';

/** OpenSearch 3 ignores `max_determinized_states` for fields of type wildcard, which long repetitive texts exceed. */
function isUnsupportedByOpenSearch3(selection: Selection): boolean {
  const { text } = selection;
  if (isUnsupported(selection)) return true;
  return (
    text !== undefined &&
    (text.mode === 'substring' || text.mode === 'regex') &&
    text.texts.some((one) => one.length > 900)
  );
}

for (const { kind, template, unsupported } of [
  { kind: OPENSEARCH_3, template: 'unfiltered', unsupported: isUnsupportedByOpenSearch3 },
  { kind: ELASTICSEARCH_8, template: 'words', unsupported: isUnsupportedWithoutWildcard },
] as const) {
  describe(`one node of ${kind.title}`, () => {
    const node = oneNode(kind);

    describeLogStore(
      kind.title,
      () => startedStore(node(), { lines: whole ? 6_000 : 1_500, indexPrefix, template }),
      { core: !whole, every: whole ? 1 : 8, everyName: whole ? 1 : 5, unsupported, ownWords: true },
    );

    for (const each of [template, 'dynamic'] as const) {
      describeOddRecords(`${kind.title} with the ${each} mapping`, () => startedOddStore(node(), each));
    }

    describeSeveralValues(kind.title, node, [template, 'dynamic']);

    describeUnsearchableIndices(kind, node);
  });
}
