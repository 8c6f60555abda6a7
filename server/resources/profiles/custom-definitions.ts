// Reads CustomResourceDefinitions: the printer columns and selectable fields of each version.
import { hash } from 'node:crypto';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { memberNamed, objectMembers } from '../../cluster/reflector/raw-json.ts';
import type { CustomDefinition, PrinterColumn } from '../kind.ts';
import { truncated } from '../object-facts.ts';

/** Maximum lengths of the texts of a column, which are stored for each definition. Tenants write them. */
const MAX_FORMAT = 63;
const MAX_DESCRIPTION = 1_024;

/** Returns the definitions of a CustomResourceDefinition by version. `raw`: its JSON. */
export function customDefinitions(object: unknown, raw: Buffer): ReadonlyMap<string, CustomDefinition> {
  const member = memberNamed(objectMembers(raw), 'spec');
  const { uid } = recordIn(object, 'metadata');
  const spec = recordIn(object, 'spec');
  // Another definition of the same name has another uid. `status` is not part of the revision.
  // The bytes are hashed, because a deeply nested schema overflows the stack of JSON.stringify.
  const bytes = Buffer.concat([Buffer.from(`${text(uid)} `), raw.subarray(member?.start, member?.end)]);
  const revision = hash('sha256', bytes, 'base64url');
  const versions = array(spec['versions'])
    .map(record)
    .map((version): [string, CustomDefinition] => [
      text(version['name']),
      {
        revision,
        listKind: text(recordIn(spec, 'names')['listKind']),
        columns: array(version['additionalPrinterColumns']).map(record).map(columnOf),
        selectableFields: array(version['selectableFields']).map((field) => text(record(field)['jsonPath'])),
      },
    ]);
  return new Map(versions);
}

function columnOf(column: Readonly<Record<string, unknown>>): PrinterColumn {
  const { priority } = column;
  return {
    name: text(column['name']),
    jsonPath: text(column['jsonPath']),
    type: text(column['type']),
    format: truncated(text(column['format']), MAX_FORMAT),
    description: truncated(text(column['description']), MAX_DESCRIPTION),
    priority: typeof priority === 'number' ? priority : 0,
  };
}
