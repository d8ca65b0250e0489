import { rowNumberKey } from '../table.ts'
import { JsonText, type OrderedJson } from './ordered-json.ts'
import type { RowDescription } from './row-description.ts'

/** JSON Schema 2020-12 of the rows, told by the header and by the cells that the sheet holds now. */
export function rowSchema(
  { propertiesJson, keysJson }: Pick<RowDescription, 'propertiesJson' | 'keysJson'>,
  /** As with `?row_numbers=true`; sometimes: with it or without. */
  rowNumbers: boolean | 'sometimes',
): { [key: string]: OrderedJson } {
  const properties = rowNumbers === false ? propertiesJson : [rowNumberProperty, ...propertiesJson]
  const required = rowNumbers === true ? [rowNumberKeyJson, ...keysJson] : keysJson
  return {
    type: 'object',
    properties: new JsonText(`{${properties.join(',')}}`),
    required: new JsonText(`[${required.join(',')}]`),
    additionalProperties: false,
  }
}

const rowNumberSchema = {
  type: 'integer',
  minimum: 2,
  description: 'The number of the row in the sheet.',
}
const rowNumberKeyJson = JSON.stringify(rowNumberKey)
const rowNumberProperty = `${rowNumberKeyJson}:${JSON.stringify(rowNumberSchema)}`
