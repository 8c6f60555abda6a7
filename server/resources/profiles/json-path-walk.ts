// Evaluates JSON paths of columns in one object, with the results of kube-apiserver and with bounded work.
// Source: util/jsonpath/jsonpath.go in client-go of Kubernetes.
import { isRecord } from '../../../apis/reading/unknown-value.ts';
import type { Comparison, JSONPath, LiteralType, Slice, Step } from './json-path.ts';

/** The result of a path that needs more work than an object may cause, or that depends on digits that JavaScript loses. */
export const UNKNOWN = Symbol('unknown');

/** Maximum number of values that all paths visit in one object: a few milliseconds. */
export const MAX_VISITS = 65_536;

type Values = readonly unknown[];

/** The paths of one object share the limit of visited values. */
export class JSONPathWalk {
  #left = MAX_VISITS;
  #isUnknown = false;

  /** Returns the first result, which can be null; undefined for no result and for an error. */
  first(object: unknown, path: JSONPath): unknown {
    this.#isUnknown = false;
    const found = this.#results([object], path);
    return this.#isUnknown ? UNKNOWN : found?.[0];
  }

  /** Counts visited values. Returns false beyond the limit. */
  visit(values: number): boolean {
    this.#left -= values;
    this.#isUnknown ||= this.#left < 0;
    return !this.#isUnknown;
  }

  /** Returns undefined for an error, which kube-apiserver prints as an empty cell. */
  #results(values: Values, path: JSONPath): Values | undefined {
    let found: Values | undefined = values;
    for (const step of path) {
      if (found) found = this.#step(found, step);
    }
    return found;
  }

  #step(values: Values, step: Step): Values | undefined {
    if (!this.visit(values.length)) return undefined;
    if (step.kind === 'field') return fieldsOf(values, step.name);
    return step.kind === 'slice' ? this.#slices(values, step) : this.#filtered(values, step);
  }

  #slices(values: Values, slice: Slice): Values | undefined {
    const found: unknown[] = [];
    for (const list of values) {
      if (list === null) continue;
      if (!Array.isArray(list)) return undefined;
      const [start, end] = rangeOf(list.length, slice);
      // As in kube-apiserver, an empty range ends the step, also if further lists follow.
      if (start === end) return found;
      const isInside = start >= 0 && start < end && end <= list.length;
      if (!isInside || slice.stride <= 0 || !this.visit(end - start)) return undefined;
      for (let i = start; i < end; i += slice.stride) found.push(list[i]);
    }
    return found;
  }

  #filtered(
    lists: Values,
    { path, comparison }: { readonly path: JSONPath; readonly comparison: Comparison | undefined },
  ): Values | undefined {
    const found: unknown[] = [];
    for (const list of lists) {
      if (!Array.isArray(list) || !this.visit(list.length)) return undefined;
      for (const element of list) {
        const left = this.#results([element], path);
        if (this.#isUnknown) return undefined;
        if (!comparison) {
          // As in kube-apiserver, an error of the path counts as a value.
          if (!left || left.length > 0) found.push(element);
          continue;
        }
        if (!left || left.length > 1) return undefined;
        if (left.length === 0) continue;
        const passes = this.#compare(left[0], comparison);
        if (passes === undefined) return undefined;
        if (passes) found.push(element);
      }
    }
    return found;
  }

  /** Returns undefined for an error: values of different types. */
  #compare(left: unknown, { operator, type, value }: Comparison): boolean | undefined {
    if (type === 'integer' && typeof left === 'number' && !isExactNumber(left)) this.#isUnknown = true;
    if (typeOf(left) !== type || typeof left === 'object' || left === undefined) return undefined;
    switch (operator) {
      case '==':
        return left === value;
      case '!=':
        return left !== value;
      case '<':
        return Number(left) < Number(value);
      case '<=':
        return Number(left) <= Number(value);
      case '>':
        return Number(left) > Number(value);
      default:
        return Number(left) >= Number(value);
    }
  }
}

function fieldsOf(values: Values, name: string): Values {
  const found: unknown[] = [];
  for (const value of values) {
    if (isRecord(value) && Object.hasOwn(value, name)) found.push(value[name]);
  }
  return found;
}

function rangeOf(length: number, { start, end = length, isIndex }: Slice): readonly [number, number] {
  const isFromEnd = end < 0 || (end === 0 && isIndex);
  return [start < 0 ? start + length : start, isFromEnd ? end + length : end];
}

/** Returns false for an integer whose digits JavaScript can lose. */
export function isExactNumber(value: number): boolean {
  return Number.isSafeInteger(value) || isFloat(value);
}

/** kube-apiserver stores a number without a fraction as an integer, unless it is larger than 64 bits. */
function isFloat(value: number): boolean {
  return !Number.isInteger(value) || Math.abs(value) > 2 ** 63;
}

function typeOf(value: unknown): LiteralType | undefined {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value !== 'number') return undefined;
  return isFloat(value) ? 'float' : 'integer';
}
