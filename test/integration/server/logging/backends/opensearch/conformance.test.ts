import { describeLongLines } from '../../../../../conformance/log-store/long-lines.ts';
import { describeLogStore } from '../../../../../conformance/log-store.ts';
import { needsWildcard } from './needs-wildcard.ts';
import { startedStore } from './started-store.ts';

for (const template of ['recommended', 'dynamic'] as const) {
  describeLogStore(
    `OpenSearch with the ${template} mapping`,
    (test) => startedStore(test, { lines: 6_000, indexPrefix: `logs-${template}`, template }),
    template === 'dynamic' ? { unsupported: needsWildcard } : {},
  );
}

describeLongLines('OpenSearch', (test) =>
  startedStore(test, { lines: 100, indexPrefix: 'logs-long', template: 'recommended' }),
);
