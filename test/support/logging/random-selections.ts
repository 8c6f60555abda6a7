// Generator of random log queries for property tests. The values come from a data set with edge cases.
import * as fc from 'fast-check';
import { LEVELS } from '../../../apis/logging/v1alpha2/log-query.ts';
import { instantOf, momentOf } from '../../../hack/log-data/times.ts';
import type { LogRecord } from '../../../hack/log-stores/record.ts';
import type { NameFilter, Scope, Selection, TextFilter } from '../../../server/logging/store/log-store.ts';
import { PlainTexts } from './brute-force/text.ts';
import { words } from './brute-force/words.ts';

/** Texts, some of them in another case. */
const recased = (texts: fc.Arbitrary<string>) =>
  fc
    .tuple(texts, fc.constantFrom('as is', 'as is', 'upper', 'lower'))
    .map(([text, how]) =>
      how === 'upper' ? ascii(text, 'toUpperCase') : how === 'lower' ? ascii(text, 'toLowerCase') : text,
    );

/** Only ASCII letters, because others may change in length. */
function ascii(text: string, how: 'toUpperCase' | 'toLowerCase'): string {
  return text.replace(/[A-Za-z]/g, (letter) => letter[how]());
}

export class RandomSelections {
  readonly #records: readonly LogRecord[];
  readonly #precision: 'ns' | 'ms';
  /** Undefined when words are runs of letters, digits and underscores. */
  readonly #plainTexts: PlainTexts | undefined;

  constructor(
    records: readonly LogRecord[],
    precision: 'ns' | 'ms',
    { ownWords = false }: { readonly ownWords?: boolean } = {},
  ) {
    this.#records = records;
    this.#precision = precision;
    this.#plainTexts = ownWords ? new PlainTexts(records.map(({ log }) => log)) : undefined;
  }

  selections(): fc.Arbitrary<Selection> {
    const names = (field: 'namespace_name' | 'pod_name' | 'container_name') =>
      this.#filters([...new Set(this.#records.map(({ kubernetes }) => kubernetes[field]))]);
    return fc
      .record({
        scope: fc.oneof(
          { weight: 2, arbitrary: fc.constant({ everything: true } as const) },
          { weight: 3, arbitrary: this.#scopes() },
        ),
        range: this.#ranges(),
        namespaces: rarely(names('namespace_name')),
        pods: rarely(names('pod_name')),
        containers: rarely(names('container_name')),
        workloads: rarely(workloads),
        text: fc.option(this.texts(), { freq: 3, nil: undefined }),
        levels: rarely(fc.uniqueArray(fc.constantFrom(...LEVELS), { minLength: 1, maxLength: 3 })),
      })
      .map(withoutUndefined);
  }

  /** Text filters; phrases and prefixes have a word. */
  texts(): fc.Arbitrary<TextFilter> {
    const lines = fc.constantFrom(...this.#records).map(({ log }) => log);
    const some = lines.map(words).filter((found) => found.length > 0);
    const phrase = fc
      .tuple(some, fc.nat(30), fc.integer({ min: 1, max: 3 }), fc.constantFrom(' ', ' ', '-', ', ', '"'))
      .map(([found, at, many, between]) => {
        const begin = at % found.length;
        return found.slice(begin, begin + many).join(between);
      })
      .filter((text) => text.length <= 200 && words(text).length > 0);
    const prefix = fc
      .tuple(phrase, fc.integer({ min: 0, max: 4 }))
      .map(([text, cut]) =>
        Array.from(text)
          .slice(0, Math.max(1, Array.from(text).length - cut))
          .join(''),
      )
      .filter((text) => words(text).length > 0);
    const fragment = fc.tuple(lines, fc.nat(500), fc.integer({ min: 1, max: 12 })).map(([line, at, many]) => {
      const characters = Array.from(line);
      const begin = at % characters.length;
      return characters.slice(begin, begin + many).join('');
    });
    const filter = <Mode extends TextFilter['mode']>(mode: Mode, text: fc.Arbitrary<string>) =>
      fc.record({
        mode: fc.constant(mode),
        texts: fc
          .array(recased(text), { minLength: 1, maxLength: 3 })
          .map(([first = 'a', ...others]): TextFilter['texts'] => [first, ...others]),
        // Lucene ignores the case of ASCII letters only, and not in sets.
        caseSensitive: mode === 'regex' ? fc.constant(true) : fc.boolean(),
      });
    const plain = (filters: ReturnType<typeof filter<'phrase' | 'prefix'>>) => {
      const plainTexts = this.#plainTexts;
      return plainTexts ? filters.filter((one) => plainTexts.has(one)) : filters;
    };
    return fc.oneof(
      plain(filter('phrase', phrase)),
      plain(filter('prefix', prefix)),
      filter('substring', fragment),
      filter('regex', regexes(fragment)),
    );
  }

  #filters(names: readonly string[]): fc.Arbitrary<NameFilter> {
    const name = fc.constantFrom(...names);
    const part = fc.tuple(name, fc.nat(20), fc.integer({ min: 1, max: 6 })).map(([whole, at, many]) => {
      const begin = at % whole.length;
      return whole.slice(begin, begin + many);
    });
    const odd = fc.constantFrom('', '*', '.', '-', '"', '\\', 'no-such-name', 'ä', '{}');
    const exact = fc.array(fc.oneof({ weight: 6, arbitrary: name }, { weight: 1, arbitrary: odd }), {
      maxLength: 8,
    });
    const contains = fc.array(
      fc.oneof(
        { weight: 6, arbitrary: recased(part) },
        { weight: 1, arbitrary: odd.filter((one) => one !== '') },
      ),
      { minLength: 1, maxLength: 4 },
    );
    return fc.oneof(
      exact.map((list) => ({ exact: list })),
      contains.map((list) => ({ contains: list })),
      fc.record({ exact, contains }),
    );
  }

  #scopes(): fc.Arbitrary<Scope> {
    const names = [...new Set(this.#records.map(({ kubernetes }) => kubernetes.namespace_name))];
    const since = fc.oneof(fc.constant('1970-01-01T00:00:00.000000000Z'), this.#times());
    const namespace = fc.record({ name: fc.constantFrom(...names, 'no-such-namespace'), since });
    return fc.uniqueArray(namespace, { selector: ({ name }) => name, maxLength: 12 }).map((namespaces) => ({
      everything: false,
      namespaces: namespaces.sort((a, b) => (a.name < b.name ? -1 : 1)),
    }));
  }

  /** Times of records, and adjacent ones. */
  #times(): fc.Arbitrary<string> {
    return fc
      .tuple(fc.constantFrom(...this.#records), fc.constantFrom(-1, 0, 0, 1))
      .map(([{ time }, step]) => {
        const { ms, ns } = momentOf(time);
        if (this.#precision === 'ms') return instantOf({ ms: ms + step, ns: 0 });
        return instantOf({ ms, ns: Math.min(999_999, Math.max(0, ns + step)) });
      });
  }

  #ranges(): fc.Arbitrary<Selection['range']> {
    const whole = fc.constant({
      start: '2000-01-01T00:00:00.000000000Z',
      end: '2100-01-01T00:00:00.000000000Z',
    });
    const some = fc.tuple(this.#times(), this.#times()).map(([one, other]) => {
      const [start, end] = one < other ? [one, other] : [other, one];
      return { start, end };
    });
    return fc.oneof({ weight: 1, arbitrary: whole }, { weight: 4, arbitrary: some });
  }
}

const WORKLOADS = ['web', 'api', 'web-api', 'postgres', 'kafka', 'backup', 'report-1', 'worker', 'no-such'];
const workloads = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...WORKLOADS), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('exact', 'contains'),
  )
  .map(([names, how]) => ({ [how]: names }));

const ATOMS = ['.', '[a-f]', '[^a-z ]', '[0-9.]', '(a|e|o)', '(er|or)'];

/** Regular expressions with fragments of lines, in the syntax that RE2 and Lucene have in common. */
function regexes(fragment: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const literal = fragment.map((text) => text.replace(/["$()*+./?[\\\]^{|}]/g, '\\$&'));
  const atom = fc
    .tuple(fc.constantFrom(...ATOMS), fc.constantFrom('', '', '', '?', '+', '*', '{2}', '{1,3}', '{0,2}'))
    .map(([one, times]) => `${one}${times}`);
  const piece = fc.oneof({ weight: 3, arbitrary: literal }, { weight: 1, arbitrary: atom });
  return fc
    .array(fc.array(piece, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 })
    .map((branches) => branches.map((pieces) => pieces.join('')).join('|'));
}

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

function withoutUndefined(
  parts: { [Part in keyof Selection]: Selection[Part] | undefined } & Pick<Selection, 'scope' | 'range'>,
): Selection {
  const { scope, range, ...rest } = parts;
  return {
    scope,
    range,
    ...Object.fromEntries(Object.entries(rest).filter(([, part]) => part !== undefined)),
  };
}
