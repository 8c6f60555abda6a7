// Conformance tests of log stores: query injection. Filter values must never be interpreted as LogsQL, Lucene or query
// DSL syntax.
import { expect } from 'chai';
import type { NameFilter, Selection } from '../../../server/logging/store/log-store.ts';
import { words } from '../../support/logging/brute-force/words.ts';
import { ALWAYS, type Subject, selection, text } from './subject.ts';

const PAGE = { order: 'asc', size: 20, from: 0 } as const;

/** Values with a meaning in a query language of a store. */
const HOSTILE: readonly string[] = [
  ...Array.from('"\'\\`{}()[]|*?.+^$~!-/:,;<>&%#@=\n\t\0\u2028\ufeff\u202e\u0130\uffffé数😀'),
  ...['\\"', '{}', '.*', '\r\n', 'a\0b', '\ud800', '\udfff', 'a\ud800b', 'E\u0301', 'x'.repeat(253)],
  // Quotes and escapes.
  ...['"quoted"', 'a"b', 'a\\', '\\\\', '\\n', '\\u0022', '%22', '%0a'],
  ...['..', '../..', 'a/b', '&start=0', '?x=y'],
  ...['" OR "a"="a', "' OR '1'='1", '") or (*', '*"} or {', 'x" or *', '{{x}}', '${x}', '$(x)'],
  // LogsQL and the kubelet.
  ...['" | delete _time', '"} | stats count() | x', '* | fields *', '_time:1d', '_stream:{}', 'limitBytes=1'],
  ...['{kubernetes.namespace_name=~".*"}', 'kubernetes.namespace_name:*'],
  // Lucene and the query DSL of OpenSearch.
  ...['web* OR *', '*:*', '_exists_:log', '/.*/', '<1-1000>', '@&~(a)', '~(x)', 'a&b', '#x'],
  ...['{"match_all":{}}', '"}},{"match_all":{}}'],
];

const asName: readonly [what: string, filter: (value: string) => Partial<Selection>][] = [
  ['a namespace', (value) => ({ namespaces: { exact: [value] } })],
  ['a part of a namespace', (value) => ({ namespaces: part(value) })],
  ['a pod', (value) => ({ pods: { exact: [value] } })],
  ['a part of a pod', (value) => ({ pods: part(value) })],
  ['a container', (value) => ({ containers: { exact: [value] } })],
  ['a part of a container', (value) => ({ containers: part(value) })],
  ['a workload', (value) => ({ workloads: { exact: [value] } })],
  ['a part of a workload', (value) => ({ workloads: part(value) })],
  ['a scope', (value) => ({ scope: { everything: false, namespaces: [{ name: value, since: ALWAYS }] } })],
];

function part(value: string): NameFilter {
  return { contains: [value] };
}

/** Filters are values, never query text: results are exact, and no value causes a failure. */
export function describeInjections(subject: () => Subject): void {
  describe('hostile values', () => {
    for (const [what, filter] of asName) {
      it(`are ordinary names, as ${what}`, async () => {
        const { everyName = 1 } = subject().traits;
        await all(everyNth(HOSTILE, everyName), async (value) => {
          await subject().compare.page(selection(subject(), filter(value)), PAGE);
        });
        // Together with an existing name.
        const { records, compare } = subject();
        const [first] = records;
        const name = first?.kubernetes.namespace_name ?? '';
        const scope: Selection['scope'] = { everything: false, namespaces: [{ name, since: ALWAYS }] };
        const all_: Selection = selection(subject(), { namespaces: { exact: [name, ...HOSTILE] }, scope });
        expect(await compare.page(all_, PAGE)).to.be.above(0);
        await compare.statistics(all_);
      });
    }

    for (const mode of ['phrase', 'prefix', 'substring', 'regex'] as const) {
      for (const caseSensitive of mode === 'regex' ? [true] : [false, true]) {
        it(`are ordinary text, in ${mode}${caseSensitive ? ', case-sensitive' : ''}`, async () => {
          const { every = 1 } = subject().traits;
          const values = everyNth(HOSTILE, every).filter((value) => value.isWellFormed());
          const accepted =
            mode === 'phrase' || mode === 'prefix'
              ? values.filter((value) => words(value).length > 0)
              : values;
          await all(accepted, async (value) => {
            const one = mode === 'regex' ? escaped(value) : value;
            await subject().compare.page(
              selection(subject(), { text: text(mode, [one], caseSensitive) }),
              PAGE,
            );
          });
        });
      }
    }

    it('with lone surrogates match no line', async () => {
      const { compare } = subject();
      for (const value of ['\ud800', 'a\ud800', '\udc00b']) {
        const lone = selection(subject(), { text: text('substring', [value]) });
        expect(await compare.page(lone, PAGE)).to.equal(0);
      }
    });

    it('may reach the limits of the API in length and number', async () => {
      const { compare } = subject();
      const names = Array.from({ length: 1_000 }, (_, index) => `${'n'.repeat(240)}-${index}`);
      await compare.page(selection(subject(), { namespaces: { exact: names } }), PAGE);
      await compare.page(selection(subject(), { pods: { contains: [...names.slice(0, 999), 'a'] } }), PAGE);
      const long = 'word '.repeat(199).trim();
      const [first = '', ...others] = Array.from({ length: 20 }, (_, index) => `connection ${index}`);
      for (const mode of ['phrase', 'prefix', 'substring', 'regex'] as const) {
        for (const texts of [[mode === 'regex' ? long.slice(0, 300) : long], [first, ...others]] as const) {
          await compare.page(selection(subject(), { text: text(mode, texts, mode === 'regex') }), PAGE);
        }
      }
    });
  });
}

function everyNth(values: readonly string[], step: number): readonly string[] {
  return values.filter((_, index) => index % step === 0);
}

/** Escaped for the regular expressions of all stores. OpenSearch needs alternatives for a backslash in a field of type `wildcard`. */
function escaped(value: string): string {
  return value.replace(/["$()*+./?[\\\]^{|}]/g, (sign) => (sign === '\\' ? '(\\\\|\\\\)' : `\\${sign}`));
}

/** Reports all failures, not only the first. */
async function all(values: readonly string[], check: (value: string) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  for (const value of values) {
    await check(value).catch((error: unknown) => {
      failures.push(
        `${JSON.stringify(value)}: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`,
      );
    });
  }
  expect(failures, failures.join('\n')).to.deep.equal([]);
}
