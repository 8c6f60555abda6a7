// The option types of the configuration: builders of schemas with default and description.
import { type TProperties, Type } from 'typebox';

declare const duration: unique symbol;
declare const quantity: unique symbol;

/** A duration in the file; milliseconds in the resolved configuration. */
export type DurationText = string & { readonly [duration]: true };
/** A quantity in the file; bytes in the resolved configuration. */
export type QuantityText = string & { readonly [quantity]: true };

/** The same tree with durations as milliseconds and quantities as bytes. */
export type Resolved<T> = T extends DurationText | QuantityText
  ? number
  : T extends readonly (infer Item)[]
    ? readonly Resolved<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Resolved<T[Key]> }
      : T;

interface Bounds {
  /** Inclusive, in the notation of the option. */
  readonly atLeast?: string;
  readonly atMost?: string;
}

/** A section. Without it, the defaults of its options apply. */
export function section<Properties extends TProperties>(description: string, properties: Properties) {
  return Type.Object(properties, { additionalProperties: false, default: {}, description });
}

export function durationOption(initial: string, description: string, bounds: Bounds = {}) {
  return Type.Unsafe<DurationText>({
    type: 'string',
    format: 'duration',
    default: initial,
    description,
    ...bounds,
  });
}

/** For durations that may exceed the maximum of a timer, because they are compared with a clock. */
export function periodOption(initial: string, description: string, bounds: Bounds = {}) {
  return Type.Unsafe<DurationText>({
    type: 'string',
    format: 'period',
    default: initial,
    description,
    ...bounds,
  });
}

export function quantityOption(initial: string, description: string, bounds: Bounds = {}) {
  return Type.Unsafe<QuantityText>({
    // A number of bytes without a unit is a YAML number.
    type: ['string', 'integer'],
    format: 'quantity',
    // For a number: formats apply to strings only.
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: initial,
    description,
    ...bounds,
  });
}

export function portOption(initial: number, description: string) {
  return Type.Integer({ minimum: 0, maximum: 65_535, default: initial, description });
}

export function countOption(initial: number, description: string, minimum = 1) {
  return Type.Integer({ minimum, maximum: 10_000_000, default: initial, description });
}

export function flagOption(initial: boolean, description: string) {
  return Type.Boolean({ default: initial, description });
}

/** `expects` describes `pattern` in validation errors. */
export function textOption(
  initial: string,
  description: string,
  rule?: { pattern: string; expects: string },
) {
  return Type.String({ default: initial, description, ...rule });
}

/** The path of a file or folder, relative to the configuration file. Empty: none. */
export function pathOption(description: string) {
  return Type.String({ format: 'path', default: '', description });
}

export function pathsOption(description: string) {
  return Type.Array(Type.String({ minLength: 1, format: 'path' }), {
    default: [],
    uniqueItems: true,
    description,
  });
}

export function choiceOption<const Choices extends readonly [string, ...string[]]>(
  choices: Choices,
  initial: Choices[number],
  description: string,
) {
  return Type.Unsafe<Choices[number]>({ type: 'string', enum: [...choices], default: initial, description });
}

/** Origins of web pages. */
export function originsOption(description: string) {
  return Type.Array(Type.String({ format: 'origin' }), { default: [], uniqueItems: true, description });
}

export function namesOption(description: string) {
  return Type.Array(Type.String({ minLength: 1 }), { default: [], uniqueItems: true, description });
}
