// ErrorLocator: adds the location to each validation error of the configuration. A location is a flag, or a position
// in the configuration file.

import { fieldPath } from '../../reading/schema-error.ts';
import type { ConfigurationDocument, Path } from './configuration-document.ts';
import type { OptionError, ValidationError } from './configuration-error.ts';

/** An option that a flag overrides. */
export interface Override {
  readonly path: readonly string[];
  readonly value: unknown;
  /** The flag, such as `--secure-port`, for validation errors. */
  readonly source: string;
}

/** Of a URL: the log must not contain a password that is in the wrong place. */
const CREDENTIALS = /\/\/[^\s"]*@/g;

/** Creates validation errors with their location. */
export class ErrorLocator {
  readonly #source: string;
  readonly #document: ConfigurationDocument | undefined;
  readonly #overrides: readonly Override[];

  constructor(source: string, document: ConfigurationDocument | undefined, overrides: readonly Override[]) {
    this.#source = source;
    this.#document = document;
    this.#overrides = overrides;
  }

  error({ path, which = 'value', message: quoting }: OptionError): ValidationError {
    const message = quoting.replaceAll(CREDENTIALS, '//…@');
    const name = path.join('.');
    const override = this.#overrides.findLast((candidate) => candidate.path.join('.') === name);
    if (override) return { source: override.source, position: undefined, path: '', message };
    const position = this.#document?.locate(path.map(indexOrKey), which);
    return { source: this.#source, position, path: fieldPath(path), message };
  }
}

function indexOrKey(segment: string): Path[number] {
  return /^\d+$/.test(segment) ? Number(segment) : segment;
}
