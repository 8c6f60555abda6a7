import { readFile } from 'node:fs/promises';
import type { TestRecord } from '../../test/support/reporter.ts';

/** Reads the mocha results that test/support/reporter.ts has written. Returns undefined without results. */
export async function readRecord(file: string): Promise<TestRecord | undefined> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
  return isRecord(value) ? value : undefined;
}

function isRecord(value: unknown): value is TestRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { passed, failed, skipped, failures, files, openHandles } = value as Partial<Record<string, unknown>>;
  return [passed, failed, skipped].every(isCount) && [failures, files, openHandles].every(isNames);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}
