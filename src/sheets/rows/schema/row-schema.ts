import { rowNumberKey } from '../table.ts'
import { JsonText, type OrderedJson } from './ordered-json.ts'
import type { RowDescription } from './row-description.ts'

/** JSON Schema 2020-12 of the rows, told by the header and by the cells that the sheet holds now. */
export function rowSchema(
  { propertiesJson, keysJson }: RowDescription,
  /** As with `?row_numbers=true`; sometimes: with it or without. */
  rowNumbers: boolean | 'sometimes',
): { [key: string]: OrderedJson } {
  const properties = rowNumbers === false ? propertiesJson : joined(rowNumberProperty, propertiesJson)
  const required = rowNumbers === true ? joined(JSON.stringify(rowNumberKey), keysJson) : keysJson
  return {
    type: 'object',
    properties: new JsonText(`{${properties}}`),
    // With `fields`, a row has only some of its columns.
    ...(rowNumbers !== 'sometimes' && { required: new JsonText(`[${required}]`) }),
    additionalProperties: false,
  }
}

const rowNumberSchema = {
  type: 'integer',
  minimum: 2,
  description: 'The number of the row in the sheet.',
}
const rowNumberProperty = `${JSON.stringify(rowNumberKey)}:${JSON.stringify(rowNumberSchema)}`

function joined(first: string, others: string): string {
  return others === '' ? first : `${first},${others}`
}
