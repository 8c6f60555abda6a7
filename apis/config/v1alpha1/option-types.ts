// The kinds of options that the configuration is made of: builders of schemas that carry default and description.
import { type TProperties, Type } from 'typebox';

declare const duration: unique symbol;
declare const quantity: unique symbol;

/** A duration as it stands in the file; a number of milliseconds in the completed configuration. */
export type DurationText = string & { readonly [duration]: true };
/** A number of bytes as it stands in the file; a number in the completed configuration. */
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
  /** In the notation of the option itself, inclusive. */
  readonly atLeast?: string;
  readonly atMost?: string;
}

/** A part of the configuration; leaving it out means all of its defaults. */
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

/** Longer than timers can wait; for what is compared with a clock. */
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
    // A bare number of bytes may be written without quotes, and then YAML makes it a number.
    type: ['string', 'integer'],
    format: 'quantity',
    // Of such a number: a format is looked at for text only.
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

/** `expects` names in words what `pattern` demands; it is what a fault says. */
export function textOption(
  initial: string,
  description: string,
  rule?: { pattern: string; expects: string },
) {
  return Type.String({ default: initial, description, ...rule });
}

/** Of a file or a folder; relative to the file that the path stands in. Empty: none. */
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

/** Of web pages. */
export function originsOption(description: string) {
  return Type.Array(Type.String({ format: 'origin' }), { default: [], uniqueItems: true, description });
}

export function namesOption(description: string) {
  return Type.Array(Type.String({ minLength: 1 }), { default: [], uniqueItems: true, description });
}
