// Functions that create the JSON Schema of an option with its default and description.
import type { TProperties } from 'typebox';
import { Type } from '../../reading/json-schema.ts';

declare const duration: unique symbol;

/** A duration or period as text. In the resolved configuration it is a number of milliseconds. */
type DurationText = string & { readonly [duration]: true };

/** The type `T` with durations as milliseconds. */
export type Resolved<T> = T extends DurationText
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

/** A section of options. If the file omits it, the defaults of its options apply. */
export function section<Properties extends TProperties>(description: string, properties: Properties) {
  return Type.Object(properties, { additionalProperties: false, default: {}, description });
}

export function durationOption(initial: string, description: string, bounds: Bounds = {}) {
  return Type.Unsafe<DurationText>({
    type: 'string',
    format: 'duration',
    expects: 'a duration such as 500ms, 10s or 1h30m',
    default: initial,
    description,
    ...bounds,
  });
}

/** A period: a duration that may exceed the maximum of a timer, because it is compared with a clock. */
export function periodOption(initial: string, description: string, bounds: Bounds = {}) {
  return Type.Unsafe<DurationText>({
    type: 'string',
    format: 'period',
    expects: 'a period such as 90m, 2h or 30d',
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

/** The URL of an HTTP server, with or without a path. Empty: none. */
export function urlOption(description: string) {
  return Type.String({
    format: 'url',
    // An invalid value can contain a password, which no error message may quote.
    writeOnly: true,
    expects: 'an http:// or https:// URL without credentials, query and fragment',
    default: '',
    description,
  });
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
  const origin = Type.String({
    format: 'origin',
    expects: 'an origin in the form that browsers send, such as https://console.example.com',
  });
  return Type.Array(origin, { default: [], uniqueItems: true, description });
}

export function namesOption(description: string) {
  return Type.Array(Type.String({ minLength: 1 }), { default: [], uniqueItems: true, description });
}
