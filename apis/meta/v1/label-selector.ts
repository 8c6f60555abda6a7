// Label selectors: what they mean. How they are written is the parser's business.
import type { LabelRequirement } from './label-requirement.ts';
import { parseLabelSelectorText } from './label-selector-parser.ts';

export type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  matches(labels: Labels): boolean;
}

/** Labels that are compared as numbers hold a signed 64-bit integer, or do not match. */
function integer(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
}

function compared(value: string, requirement: LabelRequirement): boolean {
  const left = integer(value);
  const right = integer(requirement.values[0]);
  if (left === undefined || right === undefined) return false;
  return requirement.operator === '>' ? left > right : left < right;
}

type ValueTest = (value: string) => boolean;

/** Long lists of values are looked up, not searched: they are tried on every object. */
function oneOf(values: readonly string[]): ValueTest {
  if (values.length <= 4) return (value) => values.includes(value);
  const set = new Set(values);
  return (value) => set.has(value);
}

function satisfies(labels: Labels, requirement: LabelRequirement, listed: ValueTest): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && listed(value);
    case '!=':
    case 'notin':
      return value === undefined || !listed(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    default:
      return value !== undefined && compared(value, requirement);
  }
}

export const EVERY_LABEL: LabelSelector = { requirements: [], matches: () => true };

/** Throws a plain Error, worded as kube-apiserver words it, when `text` is not a selector. */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = parseLabelSelectorText(text);
  if (requirements.length === 0) return EVERY_LABEL;
  const tests = requirements.map((one) => {
    const listed = oneOf(one.values);
    return (labels: Labels) => satisfies(labels, one, listed);
  });
  return { requirements, matches: (labels) => tests.every((test) => test(labels)) };
}
