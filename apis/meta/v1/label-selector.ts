// Evaluates label selectors for the labels of an object. The parser is in label-selector-parser.ts.
import { inInt64 } from '../../reading/go-number.ts';
import { type LabelRequirement, parseLabelSelectorText } from './label-selector-parser.ts';

export type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  matches(labels: Labels): boolean;
}

/**
 * Maximum number of keys of a selector that are looked up in the labels of any object. A selector with more keys is tested by
 * the labels of the objects that have fewer.
 */
const FEW_KEYS = 8;

/** Number of labels. Counting 40,000 of them takes a millisecond, and kube-apiserver has no maximum. */
const counts = new WeakMap<Labels, number>();

function countOf(labels: Labels): number {
  const known = counts.get(labels);
  if (known !== undefined) return known;
  const count = Object.keys(labels).length;
  counts.set(labels, count);
  return count;
}

export const EVERY_LABEL: LabelSelector = { requirements: [], matches: () => true };

/**
 * Parses a value for a numeric comparison. Returns undefined if it is not a signed 64-bit integer; it does not match.
 */
function integer(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return inInt64(value) ? value : undefined;
}

/** The combination of all requirements for one key, so that a value is tested once. */
class LabelRule {
  #required = false;
  #forbidden = false;
  #among: ReadonlySet<string> | undefined;
  #not: Set<string> | undefined;
  /** Exclusive bounds of numeric comparisons. */
  #above: bigint | undefined;
  #below: bigint | undefined;

  /** True if an object without the key does not match. */
  get required(): boolean {
    return this.#required;
  }

  add({ operator, values }: LabelRequirement): void {
    if (operator === '!') this.#forbidden = true;
    else if (operator === '!=' || operator === 'notin') {
      this.#not ??= new Set();
      for (const value of values) this.#not.add(value);
    } else {
      this.#required = true;
      if (operator === '>' || operator === '<') this.#bound(operator, integer(values[0] ?? ''));
      else if (operator !== 'exists')
        this.#among = this.#among?.intersection(new Set(values)) ?? new Set(values);
    }
  }

  accepts(value: string): boolean {
    if (this.#forbidden || this.#among?.has(value) === false) return false;
    if (this.#not?.has(value)) return false;
    const [above, below] = [this.#above, this.#below];
    if (above === undefined && below === undefined) return true;
    const number = integer(value);
    if (number === undefined) return false;
    return (above === undefined || number > above) && (below === undefined || number < below);
  }

  #bound(operator: '>' | '<', limit: bigint | undefined): void {
    const [above, below] = [this.#above, this.#below];
    if (limit === undefined) this.#forbidden = true;
    else if (operator === '<') this.#below = below !== undefined && below < limit ? below : limit;
    else this.#above = above !== undefined && above > limit ? above : limit;
  }
}

/** Parses a selector. Throws a plain Error with kube-apiserver's wording for an invalid one. */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = parseLabelSelectorText(text);
  if (requirements.length === 0) return EVERY_LABEL;
  const rules = new Map<string, LabelRule>();
  for (const requirement of requirements) {
    const rule = rules.get(requirement.key) ?? new LabelRule();
    rule.add(requirement);
    rules.set(requirement.key, rule);
  }
  const [fromKeys, fromLabels] = [byKey([...rules]), byLabel(rules)];
  if (rules.size <= FEW_KEYS) return { requirements, matches: fromKeys };
  return {
    requirements,
    matches: (labels) => (countOf(labels) < rules.size ? fromLabels(labels) : fromKeys(labels)),
  };
}

/** Returns a test whose time is proportional to the number of rules. */
function byKey(rules: readonly (readonly [string, LabelRule])[]): LabelSelector['matches'] {
  return (labels) => {
    for (const [key, rule] of rules) {
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
      if (value === undefined ? rule.required : !rule.accepts(value)) return false;
    }
    return true;
  };
}

/** Returns a test whose time is proportional to the number of labels of the object. */
function byLabel(rules: ReadonlyMap<string, LabelRule>): LabelSelector['matches'] {
  let required = 0;
  for (const rule of rules.values()) if (rule.required) required++;
  return (labels) => {
    let found = 0;
    for (const key of Object.keys(labels)) {
      const rule = rules.get(key);
      if (!rule) continue;
      if (!rule.accepts(labels[key] ?? '')) return false;
      if (rule.required) found++;
    }
    return found === required;
  };
}
